"""Which layers bear to be stored in a few bits: `lathe quantize --sensitivity`."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from buildtool import requests
from buildtool.config import Deployment, FileRef, ModelConfig
from buildtool.errors import ConfigError, Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph
from buildtool.ir.quantised import dequantised
from buildtool.quant.choice import Choice
from buildtool.quant.histogram import Histogram
from buildtool.quant.ranges import between
from buildtool.quant.sensitivity import Layer, Noise, fewest, layers
from buildtool.reports import sensitivity as report
from buildtool.reports.quantisation import RangesReport
from buildtool.reports.sensitivity import LayerReport, SensitivityReport
from buildtool.requests import Algorithms
from buildtool.settings import Budget, CalibrationSettings, Options, Progress
from buildtool.targets.protocol import LibrarySource, Target
from buildtool.validation import samples, work
from buildtool.validation.metrics import Array
from buildtool.validation.mixes import Mixes
from buildtool.validation.plugin import Plugin
from buildtool.workflow.building import prepare, up_to_date

_SAMPLES = 8  # of those that the ranges come from: the first ones
_HOST = "host"
_TOGETHER = 16  # mixtures: their graphs are all in memory
_HALF_A_STEP = 0.5 / 255
_REAL = "_real"  # behind the name of the model that computes on real numbers


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
    deployment, model = _stored(deployment, model, ranges.file)
    script = _script(model, budget, options)
    options = replace(options, output=options.output / "sensitivity", archive=False)
    built = up_to_date(_with_real(deployment), options, _Quiet(progress))
    inputs, _ = requests.specs(model)
    most = min(_SAMPLES, calibration.samples or _SAMPLES)
    reader = samples.Reader(inputs)
    first = [reader.inputs(sample) for sample in itertools.islice(samples.find(calibration.inputs, inputs), most)]
    with tempfile.TemporaryDirectory() as folder:
        mixes = Mixes(built.file_of(_HOST, "shared"), built.identifier, model.identifier, Path(folder))
        bench = _Bench(*_sources(deployment, options, progress), mixes, first, script)
        found = _every_layer(bench, model, progress)
        chosen = _proposal(bench, found, budget, progress)
        whole, mixed = (bench.decibels(graph) for graph in bench.graphs([bench.choice, bench.without(chosen)]))
        accuracy = bench.accuracies(chosen) if script else ()
    file = built.folder / "report" / "sensitivity" / f"{model.identifier}.html"
    result = SensitivityReport(
        model=model.name,
        ranges=ranges,
        samples=len(first),
        layers=tuple(found),
        decibels=whole,
        budget=budget,
        keep_float=tuple(chosen),
        already=model.quantize.keep_float,
        decibels_with=mixed,
        accuracy=accuracy,
        page=file,
        seconds=time.monotonic() - began,
    )
    report.write(result)
    return result


@dataclass(frozen=True)
class _Quiet:
    """What the build says of its models is nothing that a user could do something about."""

    progress: Progress

    def stage(self, name: str) -> None:
        self.progress.stage(name)

    def step(self, text: str) -> None:
        self.progress.step(text)

    def note(self, problem: Problem) -> None:
        pass


# -- what is built ----------------------------------------------------------------------------------------------------
def _stored(deployment: Deployment, model: ModelConfig, ranges: Path) -> tuple[Deployment, ModelConfig]:
    """The model alone, stored by these ranges, for this machine."""
    quantize = replace(model.quantize, enabled=True, large_weights="", range_file=FileRef(str(ranges.resolve())))
    model = replace(model, data_type="fp32_fp32", quantize=quantize, obfuscate=False)
    alone = replace(
        deployment,
        models=(model,),
        target_abis=(_HOST,),
        abi_marks=(),
        toolchains=(),
        model_graph_format="file",
        model_data_format="file",
        mace_compat="0",
    )
    return alone, model


def _with_real(deployment: Deployment) -> Deployment:
    """The model twice: together they have the kernels of every mixture."""
    (model,) = deployment.models
    real = replace(
        model,
        name=model.name + _REAL,
        identifier=model.identifier + _REAL,
        quantize=replace(model.quantize, operators=(), keep_float=()),
    )
    return replace(deployment, models=(model, real))


def _sources(deployment: Deployment, options: Options, progress: Progress) -> tuple[Target, LibrarySource]:
    models = {model.config.name: (model.imported, model.graph) for model in prepare(deployment, options, progress)}
    return requests.target_of(deployment), requests.library_source(deployment, models, Algorithms())


def _script(model: ModelConfig, budget: Budget, options: Options) -> tuple[Plugin, ModelConfig] | None:
    """What measures the accuracy, where that is the budget."""
    if budget.points is None:
        return None
    scripts = requests.subgraph(model).accuracy_validation_script
    if not scripts:
        raise ConfigError(
            "no script of this model says how its accuracy is measured",
            where=model.where,
            remedy="name one with accuracy_validation_script, or give the budget in decibels: --budget 25",
        )
    return Plugin(requests.fetched(scripts[0], options.allow_unverified)), model


# -- what is measured -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Bench:
    """Stores the network as it is asked to, and runs it."""

    target: Target
    source: LibrarySource
    mixes: Mixes
    samples: Sequence[Mapping[str, Array]]
    script: tuple[Plugin, ModelConfig] | None

    @property
    def choice(self) -> Choice:
        """The deployment's own."""
        return self.source.models[0].choice

    def without(self, names: Collection[str]) -> Choice:
        return replace(self.choice, keep_float=(*self.choice.keep_float, *names))

    def graphs(self, choices: Iterable[Choice]) -> Iterator[Graph]:
        """Several are lowered together: kernels are read once for them."""
        model = self.source.models[0]
        left = iter(choices)
        while part := list(itertools.islice(left, _TOGETHER)):
            models = tuple(replace(model, choice=choice) for choice in part)
            program = self.target.lower(replace(self.source, models=models), _HOST)
            yield from (planned.source.graph for planned in program.models)

    def graph(self, choice: Choice) -> Graph:
        return next(self.graphs([choice]))

    @cached_property
    def real(self) -> Graph:
        return self.graph(Choice(operators=()))

    @cached_property
    def wanted(self) -> list[dict[str, Array]]:
        """The outputs in single precision."""
        return self.mixes.outputs(self.real, self.samples)

    def decibels(self, graph: Graph) -> float:
        """How little the outputs differ: those of the output that differs most."""
        noises = {name: Noise() for name in self.wanted[0]}
        for wanted, found in zip(self.wanted, self.mixes.outputs(graph, self.samples), strict=True):
            for name, noise in noises.items():
                noise.see(wanted[name], found[name])
        return min(noise.decibels for noise in noises.values())

    def accuracy(self, graph: Graph) -> float:
        """The first figure of the script."""
        assert self.script is not None
        plugin, model = self.script
        specs, _ = requests.specs(model)
        with self.mixes.load(graph) as loaded:
            records = [plugin.record(unit, loaded.run(work.fed(plugin, unit, specs))) for unit in range(plugin.units)]
        return next(iter(plugin.figures(records).values()))

    @cached_property
    def accuracy_of_real(self) -> float:
        return self.accuracy(self.real)

    def accuracies(self, chosen: Collection[str]) -> tuple[float, float, float]:
        """In single precision, with everything stored, and with the proposal."""
        return (
            self.accuracy_of_real,
            self.accuracy(self.graph(self.choice)),
            self.accuracy(self.graph(self.without(chosen))),
        )


def _every_layer(bench: _Bench, model: ModelConfig, progress: Progress) -> list[LayerReport]:
    """What storing each layer alone does, the most harmful first, and what becomes of its result where all are."""
    stored = bench.graph(bench.choice)
    there = layers(stored)
    if not there:
        raise UnsupportedError("nothing of this model can be stored in a few bits", where=Where(model=model.name))
    progress.stage(f"sensitivity of {model.name}")
    seen = _results(bench, stored, there)
    found = []
    graphs = bench.graphs(Choice(operators=(name,)) for name in there)
    for number, ((name, layer), graph) in enumerate(zip(there.items(), graphs, strict=True), start=1):
        progress.step(f"{number} of {len(there)}: {name}")
        found.append(seen[name].report(layer, bench.decibels(graph)))
    return sorted(found, key=lambda layer: layer.alone)


def _proposal(bench: _Bench, found: Sequence[LayerReport], budget: Budget, progress: Progress) -> list[str]:
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


def _results(bench: _Bench, stored: Graph, there: Mapping[str, Layer]) -> dict[str, _Seen]:
    """The results of all layers, in both forms of the network."""
    values = {value.name: value for value in stored.values()}
    real = {
        next(iter(value.source_names), value.name): value.name for node in bench.real.nodes for value in node.outputs
    }
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
