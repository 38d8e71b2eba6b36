"""Weights and biases that lose less in few bits: `lathe quantize --bias-correction` and `--rounding adaptive`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from buildtool.builders import package
from buildtool.config import Deployment, FileRef, ModelConfig
from buildtool.errors import UnsupportedError, Where
from buildtool.ir.graph import Node, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.passes.grids import column_grid
from buildtool.passes.store_quantised import WEIGHTED, known_types
from buildtool.quant import weight_files
from buildtool.quant.corrections import corrected_bias, rounded_together
from buildtool.quant.patches import Moments, groups_of, rows_of_weights
from buildtool.quant.sensitivity import layers
from buildtool.quant.weight_files import Change, layer_name, source_of
from buildtool.reports.corrections import CorrectionsReport
from buildtool.settings import CalibrationSettings, Corrections, Options, Progress
from buildtool.workflow.mixtures import Bench, opened

_SAMPLES = 64  # of those that the ranges come from: the first ones
_APART = 4  # one of so many samples is only measured with
_NUMBERS = 1 << 26  # that moments of several layers may have at once


def correct(
    deployment: Deployment,
    model: ModelConfig,
    ranges: Path,
    calibration: CalibrationSettings,
    wanted: Corrections,
    options: Options,
    progress: Progress,
) -> CorrectionsReport:
    """Write changed weights and biases of the layers that are stored, and compare the outputs without and with them."""
    target = wanted.output or file_beside(model, ranges)
    model = replace(model, quantize=replace(model.quantize, weights_file=None))
    with opened(deployment, model, ranges, calibration, _SAMPLES, options, progress) as bench:
        progress.stage(f"weights of {model.name}")
        learnt, judged = _parts(bench)
        before = judged.decibels(judged.graph(bench.choice))
        changes = {layer_name(seen.node): _changed(seen, wanted, progress) for seen in _moments(learnt)}
        if not changes:
            what = "no layer with weights of this model can be stored in a few bits"
            raise UnsupportedError(what, where=Where(model=model.name))
        package.write_file(target, weight_files.contents(changes))
        changed = judged.changed(target)
        after = changed.decibels(changed.graph(bench.choice))
    samples = len(learnt.samples), len(judged.samples)
    return CorrectionsReport(target, len(changes), *samples, before, after, wanted.bias, wanted.rounding)


def _parts(bench: Bench) -> tuple[Bench, Bench]:
    """With the samples that decide, and with those that the result is measured on: others, unless there are few."""
    apart = len(bench.samples) // _APART
    if not apart:
        return bench, bench
    first, last = bench.samples[:-apart], bench.samples[-apart:]
    return replace(bench, samples=first), replace(bench, samples=last)


def file_beside(model: ModelConfig, ranges: Path) -> Path:
    """The file that the deployment names, or one beside the ranges."""
    named = model.quantize.weights_file
    if named is not None and not named.is_url:
        return named.path
    return ranges.with_suffix(".weights.npz")


def with_file(model: ModelConfig, file: Path) -> ModelConfig:
    return replace(model, quantize=replace(model.quantize, weights_file=FileRef(str(file.resolve()))))


def _changed(seen: Moments, wanted: Corrections, progress: Progress) -> Change:
    name = layer_name(seen.node)
    progress.step(name)
    weights = seen.node.inputs[1].constant
    assert weights is not None
    if wanted.rounding:
        weights = rounded_together(seen, centred=wanted.bias)
    bias = corrected_bias(seen, weights) if wanted.bias else None
    return Change(source_of(seen.node), np.asarray(weights, np.float32), bias)


def _moments(bench: Bench) -> Iterator[Moments]:
    """What the layers read that are stored and have weights; as many at once as fit into memory."""
    there, types = layers(bench.graph(bench.choice)), known_types(bench.real)
    part: list[tuple[Node, QuantType]] = []
    size = 0
    for node in bench.real.nodes:
        if layer_name(node) not in there or not _has_weights(node) or node.inputs[0] not in types:
            continue
        rows = rows_of_weights(node, np.asarray(node.inputs[1].constant))
        size += rows.shape[0] * rows.shape[2] ** 2
        if part and size > _NUMBERS:
            yield from _seen(bench, part)
            part, size = [], rows.shape[0] * rows.shape[2] ** 2
        part.append((node, types[node.inputs[0]]))
    yield from _seen(bench, part)


def _has_weights(node: Node) -> bool:
    constants = [value.is_constant for value in node.inputs[1:3]]
    return node.op.name in WEIGHTED and groups_of(node) > 0 and all(constants)


def _seen(bench: Bench, part: Sequence[tuple[Node, QuantType]]) -> list[Moments]:
    found = [
        Moments(node, _type(node.inputs[0], quant), functools.partial(column_grid, axis=WEIGHTED[node.op.name]))
        for node, quant in part
    ]
    with bench.mixes.load(bench.real, keep_all=True) as loaded:
        for sample in bench.samples:
            loaded.run(sample)
            for moments in found:
                moments.see(loaded.value(moments.node.inputs[0].name))
    return found


def _type(value: Value, quant: QuantType) -> TensorType:
    return TensorType(DType.S8 if quant.bits <= 8 else DType.S16, value.type.shape, quant)
