"""The order of the stages, and nothing else: what is behind each command, callable from Python.

    Deployment -> ImportedModel -> Graph -> TargetProgram -> SourceTree -> BuiltLibrary -> RunResult -> Report

Every function takes the path of a deployment file. All failures are LatheErrors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildtool import config, requests
from buildtool.builders import library, package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.source_tree import SourceTree
from buildtool.config import Deployment, LoadedDeployment, ModelConfig
from buildtool.errors import ConfigError, LatheError, Problem, UnsupportedError, Where
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportedModel
from buildtool.ir.graph import Graph
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.reports import stages
from buildtool.reports.documents import BuildReport
from buildtool.settings import (
    DEFAULTS,
    NOTHING,
    SILENT,
    Options,
    Overrides,
    Progress,
)
from buildtool.targets.protocol import Target, TargetProgram
from buildtool.targets.registry import target_for


@dataclass(frozen=True)
class PreparedModel:
    """A model after the passes, with what it was before."""

    config: ModelConfig
    file: Path
    imported: ImportedModel
    graph: Graph  # optimised; that of `imported` is untouched
    passes: tuple[pipeline.PassRun, ...]


def check(file: Path | str, *, files: bool = True) -> LoadedDeployment:
    """Read a deployment file; with `files`, the local files that it names, too. Raises all problems at once."""
    loaded = config.load_deployment(Path(file))
    errors: list[LatheError] = []
    for reference in loaded.deployment.files() if files else ():
        try:
            if not reference.is_url:
                config.resolve_model_file(reference)
        except LatheError as error:
            errors.append(error)
    if errors:
        raise type(errors[0])([problem for error in errors for problem in error.problems])
    return loaded


def load_deployment(file: Path | str, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Deployment:
    """The deployment with what the command line says. UnsupportedError where it needs what is not built yet."""
    loaded = config.load_deployment(
        Path(file),
        library_name=overrides.library_name,
        target_abis=overrides.target_abis or None,
        model_graph_format=overrides.model_graph_format,
        model_data_format=overrides.model_data_format,
    )
    unbuilt = config.unbuilt(loaded.deployment)
    if unbuilt:
        raise UnsupportedError(unbuilt)
    for note in loaded.notes:
        progress.note(note)
    return loaded.deployment


def prepare(
    deployment: Deployment, options: Options = DEFAULTS, progress: Progress = SILENT
) -> tuple[PreparedModel, ...]:
    """Import and optimise all models. The unsupported operators of all of them are reported together."""
    operators = registry(deployment.op_paths)
    prepared: list[PreparedModel] = []
    unsupported: list[Problem] = []
    for model in deployment.models:
        progress.stage(f"import {model.name}")
        file, weights = _files(model, options)
        try:
            imported = import_model(model.platform, requests.import_request(model, file, weights, operators))
        except UnsupportedError as error:
            unsupported.extend(error.problems)
            continue
        requests.name_borders(imported.graph, model)
        progress.stage(f"optimise {model.name}")
        graph = imported.graph.clone()
        passes = tuple(pipeline.optimise(graph, model.graph_optimize_options or None))
        prepared.append(PreparedModel(model, file, imported, graph, passes))
    if unsupported:
        raise UnsupportedError(unsupported)
    return tuple(prepared)


def lower(
    deployment: Deployment, models: Sequence[PreparedModel], progress: Progress = SILENT
) -> tuple[Target, tuple[TargetProgram, ...]]:
    """Choose kernels and plan memory, per ABI."""
    progress.stage("plan")
    targets = {
        (model.runtime, abi): target_for(model.runtime, abi)
        for model in deployment.models
        for abi in deployment.target_abis
    }
    first = next(iter(targets.values()))
    if any(target.name != first.name for target in targets.values()):
        raise UnsupportedError(
            "the library mixes kinds of targets",
            where=deployment.where_of("target_abis"),
            remedy="write one deployment file per kind",
        )
    source = requests.library_source(deployment, {model.config.name: (model.imported, model.graph) for model in models})
    return first, tuple(first.lower(source, abi) for abi in deployment.target_abis)


def convert(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """Import, optimise and plan; writes the models and compiles nothing."""
    return _make(load_deployment(file, overrides, progress), options, progress, compiles=False)


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
    target, programs = lower(deployment, prepare(deployment, options, progress), progress)
    processes = Processes(dry_run=True)
    _compile(deployment, target.emit(programs), programs, options, ObjectCache(processes=processes), progress)
    return tuple(processes.commands)


def _make(deployment: Deployment, options: Options, progress: Progress, *, compiles: bool) -> BuildReport:
    began = time.monotonic()
    folder = _folder(deployment, options)
    if compiles:
        library.toolchains(deployment.target_abis)  # what is missing is told before the long work
    models = prepare(deployment, options, progress)
    target, programs = lower(deployment, models, progress)
    files = stages.model_files(programs)
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
        fingerprint=_fingerprint(deployment, [model.file for model in models]),
        models=tuple(
            stages.model_report(model.imported, model.passes, programs, index, files)
            for index, model in enumerate(models)
        ),
        libraries=tuple(stages.library_report(item) for item in built),
        folder=folder,
    )
    emitted = stages.emitted(options.emit, [model.imported for model in models], programs, tree)
    contents = {**stages.contents(tree if compiles else None, built, files), **emitted}
    contents["report/build.json"] = report.text().encode()
    archive = package.assemble(folder, deployment.library_name, contents)
    return replace(report, archive=archive.name, emitted=tuple(emitted), seconds=time.monotonic() - began)


def _files(model: ModelConfig, options: Options) -> tuple[Path, Path | None]:
    """The verified files of a model: the model itself, and its weights where they are apart."""
    weights = model.weight_file
    return (
        config.resolve_model_file(model.model_file, allow_unverified=options.allow_unverified),
        config.resolve_model_file(weights, allow_unverified=options.allow_unverified) if weights else None,
    )


def _fingerprint(deployment: Deployment, files: Sequence[Path]) -> str:
    return stages.fingerprint(requests.facts(deployment), files, deployment.op_paths)


def _compile(
    deployment: Deployment,
    tree: SourceTree,
    programs: Sequence[TargetProgram],
    options: Options,
    cache: ObjectCache,
    progress: Progress,
) -> tuple[BuiltLibrary, ...]:
    built = []
    for program in programs:
        progress.stage(f"compile for {program.abi}")
        owner = str(_folder(deployment, options).absolute())
        built.append(library.build(program, tree, cache=cache, glibc_floor=deployment.glibc_floor, owner=owner))
    return tuple(item for item in built if item is not None)


def _folder(deployment: Deployment, options: Options) -> Path:
    """Where the build goes. ConfigError where that would take the place of something that no build made."""
    folder = options.output / deployment.library_name
    ours = (folder / "report" / "build.json").is_file() and not deployment.path.is_relative_to(folder.absolute())
    if folder.is_dir() and not ours and any(folder.iterdir()):
        raise ConfigError(
            "this folder holds other things than a build, and a build would take its place",
            where=Where(file=str(folder)),
            remedy="choose another folder with --output",
        )
    return folder
