"""Which layers bear to be stored in a few bits: `lathe quantize --sensitivity`."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from buildtool.config import Deployment, ModelConfig
from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.ir.graph import Graph
from buildtool.ir.quantised import dequantised
from buildtool.quant.choice import Choice, layer_name
from buildtool.quant.histogram import Histogram
from buildtool.quant.ranges import between
from buildtool.quant.sensitivity import Layer, Noise, fewest, layers
from buildtool.reports import sensitivity as report
from buildtool.reports.quantisation import RangesReport
from buildtool.reports.sensitivity import LayerReport, SensitivityReport
from buildtool.requests import model_sources
from buildtool.running.metrics import Array
from buildtool.settings import Budget, CalibrationSettings, Options, Progress
from buildtool.validation.plugin import Plugin
from buildtool.workflow.mixtures import Bench, opened

_SAMPLES = 8  # of those that the ranges come from: the first ones
_HALF_A_STEP = 0.5 / 255


def measure(
    deployment: Deployment,
    model: ModelConfig,
    ranges: RangesReport,
    calibration: CalibrationSettings,
    budget: Budget,
    options: Options,
    progress: Progress,
) -> SensitivityReport:
    """Store one layer after the other, compare the outputs, and find few layers that have to stay real."""
    began = time.monotonic()
    script = _script(model, budget, options)
    with opened(deployment, model, ranges.file, calibration, _SAMPLES, options, progress, script) as bench:
        found = _every_layer(bench, model, progress)
        chosen = _proposal(bench, found, budget, progress)
        whole, mixed = (bench.decibels(graph) for graph in bench.graphs([bench.choice, bench.without(chosen)]))
        accuracy = bench.accuracies(chosen) if script else ()
    result = SensitivityReport(
        model=model.name,
        samples=len(bench.samples),
        layers=tuple(found),
        decibels=whole,
        budget=budget,
        keep_float=tuple(chosen),
        already=model.quantize.keep_float,
        decibels_with=mixed,
        accuracy=accuracy,
        page=bench.folder / "report" / "sensitivity" / f"{model.identifier}.html",
        seconds=time.monotonic() - began,
    )
    report.write(result)
    return result


def _script(model: ModelConfig, budget: Budget, options: Options) -> Plugin | None:
    """What measures the accuracy, where that is the budget."""
    if budget.points is None:
        return None
    scripts = model_sources.subgraph(model).accuracy_validation_script
    if not scripts:
        raise ConfigError(
            "this model has no script that measures its accuracy",
            where=model.where,
            remedy="set accuracy_validation_script, or give the budget in decibels: --budget 25",
        )
    return Plugin(model_sources.fetched(scripts[0], options.allow_unverified))


def _every_layer(bench: Bench, model: ModelConfig, progress: Progress) -> list[LayerReport]:
    """What storing each layer alone does, the most harmful first, and the error of its result where all are."""
    stored = bench.graph(bench.choice)
    there = layers(stored)
    if not there:
        raise UnsupportedError("nothing of this model can be quantised", where=Where(model=model.name))
    progress.stage(f"sensitivity of {model.name}")
    seen = _results(bench, stored, there)
    found = []
    graphs = bench.graphs(Choice(operators=(name,)) for name in there)
    for number, ((name, layer), graph) in enumerate(zip(there.items(), graphs, strict=True), start=1):
        progress.step(f"{number} of {len(there)}: {name}")
        found.append(seen[name].report(layer, bench.decibels(graph)))
    return sorted(found, key=lambda layer: layer.alone)


def _proposal(bench: Bench, found: Sequence[LayerReport], budget: Budget, progress: Progress) -> list[str]:
    """The layers that stay real, so that the rest keeps to the budget."""

    def enough(names: Collection[str]) -> bool:
        progress.step(f"without {len(names)} of {len(found)} layers")
        graph = bench.graph(bench.without(names))
        if budget.decibels is not None:
            return bench.decibels(graph) >= budget.decibels
        assert budget.points is not None
        lost = 100 * (bench.accuracy_of_real - bench.accuracy(graph))
        return lost <= budget.points + 1e-9

    return [] if budget == Budget() else fewest([layer.name for layer in found], enough)


class _Seen:
    """The results of a layer: real ones, and what is made of them where everything is stored."""

    def __init__(self, ends: tuple[float, float]) -> None:
        self.ends = ends
        self.noise = Noise()
        self.numbers = Histogram()
        self.outside = 0
        self.count = 0

    def see(self, real: Array, stored: Array) -> None:
        self.noise.see(real, stored)
        self.numbers.add(real)
        low, high = self.ends
        half = (high - low) * _HALF_A_STEP  # what is only rounded is not cut off
        low, high = low - half, high + half
        self.outside += int(((real < low) | (real > high)).sum())
        self.count += real.size

    def report(self, layer: Layer, alone: float) -> LayerReport:
        return LayerReport(
            name=layer.name,
            op=layer.op,
            alone=alone,
            here=self.noise.decibels,
            ends=self.ends,
            seen=(self.numbers.low, self.numbers.high),
            clipped=self.outside / max(self.count, 1),
            histogram=report.bars(self.numbers, self.ends),
        )


def _results(bench: Bench, stored: Graph, there: Mapping[str, Layer]) -> dict[str, _Seen]:
    """The results of all layers, in both forms of the network."""
    values = {value.name: value for value in stored.values()}
    real = {layer_name(node): node.outputs[0].name for node in bench.real.nodes}
    seen: dict[str, _Seen] = {}
    for name, layer in there.items():
        quant = values[layer.value].type.quant
        seen[name] = _Seen(between(quant) if quant is not None else (-float("inf"), float("inf")))
    with bench.mixes.load(bench.real, keep_all=True) as exact, bench.mixes.load(stored, keep_all=True) as rough:
        for sample in bench.samples:
            exact.run(sample)
            rough.run(sample)
            for name, layer in there.items():
                value = values[layer.value]
                seen[name].see(exact.value(real[name]), dequantised(rough.value(value.name), value.type))
    return seen
