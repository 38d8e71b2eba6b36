"""The order of the stages, and nothing else: what is behind each command, callable from Python.

    Deployment -> ImportedModel -> Graph -> TargetProgram -> SourceTree -> BuiltLibrary -> RunResult -> Report

Every function takes the path of a deployment file. All failures are LatheErrors.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildtool import requests
from buildtool.builders import elf, library, package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.source_tree import SourceTree
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.in_process import LoadedModel, load_library
from buildtool.devices.runner import RunResult
from buildtool.errors import Problem, UnsupportedError
from buildtool.importers.request import ImportedModel
from buildtool.ir.graph import Graph
from buildtool.passes import pipeline
from buildtool.plan.algorithms import ALGORITHMS
from buildtool.reports import exports, stages, trust, tuning
from buildtool.reports.documents import BuildReport, RunReport, ValidationReport, read_build
from buildtool.reports.tuning import Tuning, TuningReport
from buildtool.requests import Algorithms, check, load_deployment
from buildtool.settings import DEFAULTS, EVERYTHING, NOTHING, SILENT, Options, Overrides, Progress, RunSettings
from buildtool.targets.protocol import Target, TargetProgram
from buildtool.validation.compare import Comparison
from buildtool.validation.stand import Stand

__all__ = ["build", "check", "commands", "convert", "export", "load", "prepare", "run", "tune", "validate"]


@dataclass(frozen=True)
class PreparedModel:
    """A model after the passes, with what it was before."""

    config: ModelConfig
    file: Path
    imported: ImportedModel
    graph: Graph  # optimised; that of `imported` is untouched
    passes: tuple[pipeline.PassRun, ...]


def prepare(
    deployment: Deployment, options: Options = DEFAULTS, progress: Progress = SILENT
) -> tuple[PreparedModel, ...]:
    """Import and optimise all models. The unsupported operators of all of them are reported together."""
    prepared: list[PreparedModel] = []
    unsupported: list[Problem] = []
    for model in deployment.models:
        progress.stage(f"import {model.name}")
        try:
            file, imported = requests.imported(deployment, model, options)
        except UnsupportedError as error:
            unsupported.extend(error.problems)
            continue
        progress.stage(f"optimise {model.name}")
        graph = imported.graph.clone()
        passes = tuple(pipeline.optimise(graph, model.graph_optimize_options or None))
        prepared.append(PreparedModel(model, file, imported, graph, passes))
    if unsupported:
        raise UnsupportedError(unsupported)
    return tuple(prepared)


def lower(
    deployment: Deployment, models: Sequence[PreparedModel], algorithms: Algorithms, progress: Progress = SILENT
) -> tuple[Target, tuple[TargetProgram, ...]]:
    """Choose kernels and plan memory, per ABI."""
    progress.stage("plan")
    target = requests.target_of(deployment)
    graphs = {model.config.name: (model.imported, model.graph) for model in models}
    source = requests.library_source(deployment, graphs, algorithms)
    programs = tuple(target.lower(source, abi) for abi in deployment.target_abis)
    for note in itertools.chain.from_iterable(program.notes for program in programs):
        progress.note(note)
    return target, programs


def convert(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """Import, optimise and plan; writes the models and compiles nothing."""
    return _make(load_deployment(file, overrides, progress), options, progress, compiles=False)


def export(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> exports.ExportReport:
    """Import and optimise; writes the graphs as ONNX files."""
    from buildtool.exporters.onnx import ExportRequest, export_models  # slow to load, and builds need none of it

    deployment = load_deployment(file, overrides, progress)
    files = exports.files(options.output, [model.name for model in deployment.models])
    models = prepare(deployment, options, progress)
    progress.stage("write")
    sources = [ExportRequest(model.graph, *requests.source_names(model.config)) for model in models]
    return exports.write(files, [model.imported for model in models], sources, export_models(sources, stages.version()))


def build(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """Everything: `<output>/<library>/{include,lib/<abi>,model,report}` and its archive."""
    return _make(load_deployment(file, overrides, progress), options, progress, compiles=True)


def commands(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> tuple[str, ...]:
    """What `build` would run, ready to paste into a shell. Writes generated sources into the cache, nothing else."""
    deployment = load_deployment(file, overrides, progress)
    algorithms = Algorithms(requests.known_tuning(deployment, options).times())
    target, programs = lower(deployment, prepare(deployment, options, progress), algorithms, progress)
    processes = Processes(dry_run=True)
    _compile(deployment, target.emit(programs), programs, options, ObjectCache(processes=processes), progress)
    return tuple(processes.commands)


def _make(
    deployment: Deployment,
    options: Options,
    progress: Progress,
    *,
    compiles: bool,
    tuned: Tuning | None = None,
    everywhere: str | None = None,
) -> BuildReport:
    began = time.monotonic()
    folder = requests.output_folder(deployment, options)
    tuned = tuned or requests.known_tuning(deployment, options)
    if compiles:  # what is missing is told before the long work
        library.toolchains(deployment.target_abis, dict(deployment.toolchains))
    models = prepare(deployment, options, progress)
    target, programs = lower(deployment, models, Algorithms(tuned.times(), everywhere), progress)
    files = stages.model_files([model.imported for model in models], programs)
    tree = target.emit(programs) if compiles or "source" in options.emit else None
    built: tuple[BuiltLibrary, ...] = ()
    if tree is not None and compiles:
        cache = ObjectCache(processes=Processes(echo=progress.step))
        built = _compile(deployment, tree, programs, options, cache, progress)
    progress.stage("write")
    report = BuildReport(
        library=deployment.library_name,
        identifier=deployment.library_identifier,
        version=stages.version(),
        graph_format=deployment.model_graph_format,
        data_format=deployment.model_data_format,
        fingerprint=tuned.identity,
        models=tuple(
            stages.model_report(model.imported, model.passes, programs, index, files)
            for index, model in enumerate(models)
        ),
        libraries=tuple(stages.library_report(item) for item in built),
        folder=folder,
    )
    emitted = stages.emitted(options, [(model.imported, model.passes) for model in models], programs, tree)
    contents = {**stages.contents(tree if compiles else None, built, files, programs), **emitted}
    contents.update(stages.reports(report) | tuned.files())
    contents.update(trust.files(requests.origin(deployment, options, tuned.identity), built, contents))
    packed = package.assemble(folder, deployment.library_name, contents, packed=options.archive)
    archive = packed.name if packed else ""
    return replace(report, archive=archive, emitted=tuple(emitted), seconds=time.monotonic() - began)


def run(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> RunReport:
    """Run the models of a library, on this machine or in an emulator. Builds what is not up to date."""
    deployment = load_deployment(file, overrides, progress)
    built = _up_to_date(deployment, options, progress)
    runs = [
        stand.report(model.identifier, result)
        for stand, model, result in _runs(deployment, built, options, settings, progress)
    ]
    return RunReport(built.library, built.folder, tuple(runs))


def _runs(
    deployment: Deployment, built: BuildReport, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[tuple[Stand, ModelConfig, RunResult]]:
    """Every model on every ABI."""
    for abi in deployment.target_abis:
        with Stand(built, abi, "shared", settings) as stand:
            for model in requests.selected(deployment, settings.model):
                progress.stage(f"run {model.name} on {abi}")
                inputs, outputs = requests.run_of(model, options, settings)
                yield stand, model, stand.run(model.identifier, inputs, outputs)


def tune(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> TuningReport:
    """Build every node in every way, measure, and build again with what was the fastest. Later builds keep to it."""
    deployment = load_deployment(file, overrides, progress)
    trials = {
        way: _make(deployment, tuning.trial(options, way), progress, compiles=True, everywhere=way)
        for way in ALGORITHMS
    }
    log = tuning.Log()
    for _ in range(tuning.TURNS):  # in turns, so that a slow minute of the machine does not decide
        for way, trial in trials.items():
            for stand, model, result in _runs(deployment, trial, options, replace(settings, profile=True), progress):
                log.add(stand.report(model.identifier, result), way, result.nodes)
    tuned = replace(requests.known_tuning(deployment, options), measured=log.measured())
    built = _make(deployment, options, progress, compiles=True, tuned=tuned)
    models = {model.config.identifier: (model.graph, model.config.winograd) for model in prepare(deployment, options)}
    return TuningReport(
        built.library, built.folder, tuple(tuning.summary(item, *models[item.model]) for item in log.measured())
    )


def validate(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> ValidationReport:
    """Compare a library with its source models: every ABI, shared and static. Builds what is not up to date."""
    deployment = load_deployment(file, overrides, progress)
    builds = [_up_to_date(deployment, options, progress)]
    if settings.all_variants:
        other = "file" if deployment.model_graph_format == "code" else "code"
        changed = replace(deployment, model_graph_format=other, model_data_format=other)
        builds.append(_up_to_date(changed, replace(options, output=options.output / "variants" / other), progress))
    chosen = requests.selected(deployment, settings.model)
    subjects = [requests.subject(deployment, model, options, settings, progress) for model in chosen]
    results: list[Comparison] = []
    for built, abi, kind in itertools.product(builds, deployment.target_abis, settings.kinds):
        progress.stage(f"validate {built.format} {kind} on {abi}")
        with Stand(built, abi, kind, settings) as stand:
            for subject in subjects:
                results += stand.judge(subject)
    report = ValidationReport(
        builds[0].library, builds[0].folder, subjects[0].reference, tuple(result.as_json() for result in results)
    )
    package.write_file(report.file, report.text().encode())
    return report


def load(
    thing: BuildReport | Path | str, model: str | None = None, *, threads: int = 0, progress: Progress = SILENT
) -> LoadedModel:
    """A model ready to run NumPy arrays on this machine: of a build, a `.so`, or a deployment file (which is built)."""
    if isinstance(thing, BuildReport):
        library_file = thing.file_of("host", "shared")
    elif Path(thing).suffix in (".yml", ".yaml"):
        deployment = load_deployment(thing, Overrides(target_abis=("host",)), progress)
        library_file = _up_to_date(deployment, DEFAULTS, progress).file_of("host", "shared")
    else:
        library_file = Path(thing)
    inside = elf.inspect_library(library_file).library if library_file.is_file() else ""
    return load_library(library_file, model, threads, identifier=inside or None)


def _up_to_date(deployment: Deployment, options: Options, progress: Progress) -> BuildReport:
    """The build that is there, if it is of these very things, else a new one."""
    found = read_build(requests.output_folder(deployment, options))
    identity = requests.known_tuning(deployment, options).identity
    if found is not None and found.libraries and found.fingerprint == identity:
        abis = tuple(library_.abi for library_ in found.libraries)
        if set(deployment.target_abis) <= set(abis) and found.is_whole():
            return found
        # A library for one more ABI does not take the others away.
        deployment = replace(deployment, target_abis=tuple(dict.fromkeys((*abis, *deployment.target_abis))))
    return _make(deployment, options, progress, compiles=True)


def _compile(
    deployment: Deployment,
    tree: SourceTree,
    programs: Sequence[TargetProgram],
    options: Options,
    cache: ObjectCache,
    progress: Progress,
) -> tuple[BuiltLibrary, ...]:
    progress.stage(f"compile for {', '.join(program.abi for program in programs)}")
    owner = str(requests.output_folder(deployment, options).absolute())
    own = dict(deployment.toolchains)
    floor = deployment.glibc_floor
    return library.build_all(programs, tree, cache=cache, glibc_floor=floor, owner=owner, toolchain_files=own)
