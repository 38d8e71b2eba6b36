"""A model in several mixtures of stored and real numbers, beside itself in single precision."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from buildtool.config import Deployment, FileRef, ModelConfig
from buildtool.errors import Problem
from buildtool.ir.graph import Graph
from buildtool.quant import weight_files
from buildtool.quant.choice import Choice, real
from buildtool.quant.sensitivity import Noise
from buildtool.quant.weight_files import Change
from buildtool.requests import deployments, library_sources, model_sources, runs
from buildtool.requests.library_sources import Algorithms
from buildtool.running.metrics import Array
from buildtool.runtimes import Runtime
from buildtool.settings import CalibrationSettings, Options, Progress
from buildtool.targets.protocol import LibrarySource, LibraryTarget, ModelSource
from buildtool.validation import samples, work
from buildtool.validation.mixes import Mixes
from buildtool.validation.plugin import Plugin
from buildtool.workflow.building import up_to_date
from buildtool.workflow.preparing import prepare

_HOST = "host"
_TOGETHER = 16  # mixtures: their graphs are all in memory
_REAL = "_real"  # behind the name of the model that computes on real numbers


@contextmanager
def opened(
    deployment: Deployment,
    model: ModelConfig,
    ranges: Path,
    calibration: CalibrationSettings,
    most: int,
    options: Options,
    progress: Progress,
    script: Plugin | None = None,
) -> Iterator[Bench]:
    """A library with the kernels of all mixtures, and at most so many samples."""
    both = _with_real(_stored(deployment, model, ranges))
    options = replace(options, output=options.output / "sensitivity", archive=False)
    built = up_to_date(both, options, _Quiet(progress))
    inputs, _ = runs.specs(model)
    reader = samples.Reader(inputs)
    most = min(most, calibration.samples or most)
    found = [reader.inputs(sample) for sample in itertools.islice(samples.find(calibration.inputs, inputs), most)]
    models = {item.config.name: (item.imported, item.graph) for item in prepare(both, options, _Quiet(progress))}
    source = library_sources.library_source(both, models, Algorithms())
    with tempfile.TemporaryDirectory() as folder:
        mixes = Mixes(built.file_of(_HOST, "shared"), built.identifier, model.identifier, Path(folder))
        bench = Bench(deployments.library_target_of(both), source, mixes, found, model, built.folder, script)
        changed = model.quantize.weights_file
        yield bench.changed(model_sources.fetched(changed, options.allow_unverified)) if changed else bench


@dataclass(frozen=True)
class Bench:
    """Stores the network as it is asked to, and runs it on samples."""

    target: LibraryTarget
    source: LibrarySource
    mixes: Mixes
    samples: Sequence[Mapping[str, Array]]
    model: ModelConfig
    folder: Path  # of the library
    script: Plugin | None
    weights: tuple[Path, Mapping[str, Change]] | None = None  # that stored layers get instead of their own

    @property
    def choice(self) -> Choice:
        """The deployment's own."""
        return self.source.models[0].choice

    def without(self, names: Collection[str]) -> Choice:
        return replace(self.choice, keep_float=(*self.choice.keep_float, *names))

    def changed(self, file: Path) -> Bench:
        """With the weights of a file where layers are stored."""
        return replace(self, weights=(file, weight_files.read(file)))

    def graphs(self, choices: Iterable[Choice]) -> Iterator[Graph]:
        """Several are lowered together: kernels are read once for them."""
        yield from self._lowered(self.source.models[0], choices)

    def graph(self, choice: Choice) -> Graph:
        return next(self.graphs([choice]))

    def _lowered(self, model: ModelSource, choices: Iterable[Choice]) -> Iterator[Graph]:
        left = iter(choices)
        while part := list(itertools.islice(left, _TOGETHER)):
            models = tuple(replace(model, choice=choice, graph=self._weighted(model, choice)) for choice in part)
            program = self.target.lower(replace(self.source, models=models), _HOST)
            yield from (planned.source.graph for planned in program.models)

    def _weighted(self, model: ModelSource, choice: Choice) -> Graph:
        """The graph, with the weights that go with this choice."""
        if self.weights is None:
            return model.graph
        graph = model.graph.clone()
        file, changes = self.weights
        weight_files.apply(graph, changes, file, real(graph, choice))
        return graph

    @cached_property
    def real(self) -> Graph:
        """With the model's own weights."""
        return next(self._lowered(self.source.models[1], [Choice(operators=())]))

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
        plugin = self.script
        specs, _ = runs.specs(self.model)
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


# -- what is built ----------------------------------------------------------------------------------------------------
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


def _stored(deployment: Deployment, model: ModelConfig, ranges: Path) -> Deployment:
    """The model alone, stored by these ranges, for this machine, whatever it is for."""
    file = FileRef(str(ranges.resolve()))
    quantize = replace(model.quantize, enabled=True, large_weights="", range_file=file, weights_file=None)
    model = replace(model, runtime=Runtime.CPU, data_type="fp32_fp32", quantize=quantize, obfuscate=False)
    return replace(
        deployment,
        models=(model,),
        target_abis=(_HOST,),
        abi_marks=(),
        toolchains=(),
        model_graph_format="file",
        model_data_format="file",
        mace_compat="0",
        paddle_compat="0",
    )


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
