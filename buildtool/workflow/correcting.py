"""Weights and biases that lose less in few bits: `lathe quantize --bias-correction` and `--rounding adaptive`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
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
from buildtool.quant.choice import layer_name
from buildtool.quant.corrections import corrected_bias, rounded_together
from buildtool.quant.patches import Moments, groups_of, rows_of_weights
from buildtool.quant.sensitivity import layers
from buildtool.quant.weight_files import Change, source_of
from buildtool.reports.corrections import CorrectionsReport
from buildtool.settings import CalibrationSettings, Corrections, Options, Progress
from buildtool.workflow.mixtures import Bench, opened

_SAMPLES = 64  # of those that the ranges come from: the first ones
_APART = 4  # one of so many samples is only measured with
_TRIALS = 32  # measurements of which layers gain from the changes
_NUMBERS = 1 << 26  # that moments of layers may have at once: half a GiB; one that needs more is not rounded together


def correct(
    deployment: Deployment,
    model: ModelConfig,
    ranges: Path,
    calibration: CalibrationSettings,
    wanted: Corrections,
    options: Options,
    progress: Progress,
) -> CorrectionsReport:
    """Write changed weights and biases of the layers that gain from them, and compare the outputs with both."""
    target = wanted.output or file_beside(model, ranges)
    model = replace(model, quantize=replace(model.quantize, weights_file=None))
    with opened(deployment, model, ranges, calibration, _SAMPLES, options, progress) as bench:
        progress.stage(f"weights of {model.name}")
        learnt, judged = _parts(bench)
        before = judged.decibels(judged.graph(bench.choice))
        changes: dict[str, Change] = {}
        apart: list[str] = []
        for seen in _moments(learnt, wanted.rounding):
            name = layer_name(seen.node)
            progress.step(name)
            changes[name] = _changed(seen, wanted)
            apart += [name] if wanted.rounding and not seen.joint else []
        if not changes:
            what = "no layer with weights of this model can be quantised"
            raise UnsupportedError(what, where=Where(model=model.name))
        kept, after = _helping(judged, target, changes, before)
        if kept:
            package.write_file(target, weight_files.contents(kept))
        else:
            target.unlink(missing_ok=True)
    return CorrectionsReport(
        file=target if kept else None,
        layers=len(kept),
        refused=tuple(name for name in changes if name not in kept),
        apart=tuple(name for name in apart if name in kept),
        samples=len(learnt.samples),
        judged=len(judged.samples),
        before=before,
        after=after,
        bias=wanted.bias,
        rounding=wanted.rounding,
    )


def _helping(
    judged: Bench, file: Path, changes: Mapping[str, Change], before: float
) -> tuple[dict[str, Change], float]:
    """The changes that bring the outputs nearer to those in single precision, and how near: all of them, or those that
    are left when halves that do not help are taken out.
    """
    kept: dict[str, Change] = {}
    best, left = before, _TRIALS
    parts = [list(changes)]
    while parts and left:
        names = parts.pop()
        trial = {name: changes[name] for name in changes if name in kept or name in names}
        changed = replace(judged, weights=(file, trial))
        found = changed.decibels(changed.graph(judged.choice))
        left -= 1
        if found > best:
            kept, best = trial, found
        elif len(names) > 1:
            parts += [names[len(names) // 2 :], names[: len(names) // 2]]
    return kept, best


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


def _changed(seen: Moments, wanted: Corrections) -> Change:
    weights = seen.node.inputs[1].constant
    assert weights is not None
    if seen.joint:
        weights = rounded_together(seen, centred=wanted.bias)
    bias = corrected_bias(seen, weights) if wanted.bias else None
    return Change(source_of(seen.node), np.asarray(weights, np.float32), bias)


def _moments(bench: Bench, rounding: bool) -> Iterator[Moments]:
    """What the layers read that are stored and have weights; as many at once as fit into memory."""
    there, types = layers(bench.graph(bench.choice)), known_types(bench.real)
    part: list[Moments] = []
    total = 0
    for node in bench.real.nodes:
        x = node.inputs[0] if node.inputs else None
        if layer_name(node) not in there or not _has_weights(node) or x not in types:
            continue
        rows = rows_of_weights(node, np.asarray(node.inputs[1].constant))
        size = rows.shape[0] * rows.shape[2] ** 2
        joint = rounding and size <= _NUMBERS
        if joint and total + size > _NUMBERS:
            yield from _seen(bench, part)
            part, total = [], 0
        total += size if joint else 0
        grid = functools.partial(column_grid, axis=WEIGHTED[node.op.name])
        part.append(Moments(node, _type(node.inputs[0], types[node.inputs[0]]), grid, joint))
    yield from _seen(bench, part)


def _has_weights(node: Node) -> bool:
    constants = [value.is_constant for value in node.inputs[1:3]]
    return node.op.name in WEIGHTED and groups_of(node) > 0 and all(constants)


def _seen(bench: Bench, part: Sequence[Moments]) -> Sequence[Moments]:
    with bench.mixes.load(bench.real, keep_all=True) as loaded:
        for sample in bench.samples:
            loaded.run(sample)
            for moments in part:
                moments.see(loaded.value(moments.node.inputs[0].name))
    return part


def _type(value: Value, quant: QuantType) -> TensorType:
    return TensorType(DType.S8 if quant.bits <= 8 else DType.S16, value.type.shape, quant)
