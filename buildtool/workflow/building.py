"""From a deployment to a library: the stages of `lathe convert`, `build` and `convert --to`."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool import config
from buildtool.artifacts import build_records, figures, fingerprints, model_files, output_tree
from buildtool.artifacts.tuning_store import Tuning
from buildtool.builders import hexagon, library, package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.source_tree import SourceTree
from buildtool.config import Deployment
from buildtool.errors import UnsupportedError
from buildtool.reports import exports
from buildtool.reports.documents import BuildReport, read_build
from buildtool.requests import build_identity, deployments, library_sources, model_sources
from buildtool.requests.deployments import load_deployment
from buildtool.requests.library_sources import Algorithms
from buildtool.settings import DEFAULTS, NOTHING, SILENT, Noted, Options, Overrides, Progress
from buildtool.targets.protocol import FirmwareTarget, LibraryTarget, TargetProgram
from buildtool.workflow import finishing, firmware, java_side, live_side, self_check
from buildtool.workflow.preparing import PreparedModel, prepare


def lower(
    deployment: Deployment, models: Sequence[PreparedModel], algorithms: Algorithms, progress: Progress = SILENT
) -> tuple[LibraryTarget, tuple[TargetProgram, ...]]:
    """Choose kernels and plan memory, per ABI."""
    progress.stage("plan")
    target = deployments.library_target_of(deployment)
    graphs = {model.config.name: (model.imported, model.graph) for model in models}
    source = library_sources.library_source(deployment, graphs, algorithms)
    programs = tuple(target.lower(source, abi) for abi in deployment.target_abis)
    for note in itertools.chain.from_iterable(program.notes for program in programs):
        progress.note(note)
    return target, programs


def convert(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """Import, optimise and plan; writes the models and compiles nothing."""
    return make(load_deployment(file, overrides, progress), options, progress, compiles=False)


def export(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> exports.ExportReport:
    """Import and optimise; writes the graphs as ONNX files."""
    from buildtool.exporters.onnx import ExportRequest, export_models  # slow to load, and builds need none of it

    deployment = load_deployment(file, overrides, progress)
    files = exports.files(options.output, [model.name for model in deployment.models])
    models = prepare(deployment, options, progress)
    progress.stage("write")
    sources = [ExportRequest(model.graph, *model_sources.source_names(model.config)) for model in models]
    return exports.write(
        files, [model.imported for model in models], sources, export_models(sources, fingerprints.version())
    )


def build(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """Everything: `<output>/<library>/{include,lib/<abi>,model,report}` and its archive."""
    began, noted = time.time_ns(), Noted(progress)
    deployment = load_deployment(file, overrides, noted)
    report = make(deployment, options, noted, compiles=True)
    inputs = build_identity.files_read(deployment, options)
    if inputs is not None and report.libraries:
        parts = library.parts_of_toolchains(deployment.target_abis, deployment.android_api_level)
        name = build_records.name_of("build", Path(file), overrides, options)
        build_records.write(name, began, inputs, parts, report.as_json(), noted.notes)
    return report


def package_firmware(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> BuildReport:
    """`build`, and what goes to the flash memory of a board."""
    deployment = load_deployment(file, overrides, progress)
    if not isinstance(deployments.target_of(deployment), FirmwareTarget):
        raise UnsupportedError(
            "`lathe package` packs firmware, and this deployment makes libraries",
            where=deployment.where_of("target_abis"),
            remedy="`lathe build` packs libraries: <library>.tar.gz",
        )
    return make(deployment, replace(options, flash=True), progress, compiles=True)


def commands(
    file: Path | str, overrides: Overrides = NOTHING, options: Options = DEFAULTS, progress: Progress = SILENT
) -> tuple[str, ...]:
    """What `build` would run, ready to paste into a shell. Writes generated sources into the cache, nothing else."""
    deployment = load_deployment(file, overrides, progress)
    kind = deployments.target_of(deployment)
    if isinstance(kind, FirmwareTarget):
        return firmware.commands(deployment, kind, options, progress)
    algorithms = library_sources.algorithms_of(build_identity.known_tuning(deployment, options))
    target, programs = lower(deployment, prepare(deployment, options, progress), algorithms, progress)
    cache, processes = finishing.dry_cache()
    tree = target.emit(programs)
    _compile(deployment, tree, programs, options, cache, progress)
    _compile_for_dsp(deployment, tree, programs, options, cache, progress)
    if java_side.is_wanted(options):
        java_side.files(deployment, programs, (), {}, options, cache)
    return tuple(processes.commands)


def make(
    deployment: Deployment,
    options: Options,
    progress: Progress,
    *,
    compiles: bool,
    tuned: Tuning | None = None,
    everywhere: str | None = None,
) -> BuildReport:
    kind = deployments.target_of(deployment)
    if isinstance(kind, FirmwareTarget):
        return firmware.make(deployment, kind, options, progress, compiles=compiles)
    with package.scratch(deployments.output_folder(deployment, options)) as scratch:
        return _make(deployment, options, progress, scratch, compiles=compiles, tuned=tuned, everywhere=everywhere)


def _make(
    deployment: Deployment,
    options: Options,
    progress: Progress,
    scratch: Path,
    *,
    compiles: bool,
    tuned: Tuning | None,
    everywhere: str | None,
) -> BuildReport:
    began = time.monotonic()
    tuned = tuned or build_identity.known_tuning(deployment, options)
    if compiles:  # missing tools are reported before the long work
        deployments.toolchains_of(deployment)
        java_side.check(deployment.target_abis, options)
        live_side.check(deployment, options)
    models = prepare(deployment, options, progress, drawn=True)
    algorithms = library_sources.algorithms_of(tuned, everywhere)
    target, programs = lower(deployment, models, algorithms, progress)
    files = model_files.model_files([model.stages for model in models], programs, scratch)
    tree = target.emit(programs) if compiles or "source" in options.emit else None
    built: tuple[BuiltLibrary, ...] = ()
    on_dsp: dict[str, Path] = {}
    live: dict[str, Any] = {}
    cache = ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
    if tree is not None and compiles:
        built = _compile(deployment, tree, programs, options, cache, progress)
        on_dsp = _compile_for_dsp(deployment, tree, programs, options, cache, progress)
        if options.self_check:
            self_check.check(built, programs, files, progress, time.monotonic() - began)
        live = live_side.data(deployment, options, _linked(models, algorithms, cache, progress))
    progress.stage("write")
    graphs = [(model.imported, model.passes) for model in models]
    emitted = output_tree.emitted(options, graphs, [model.source for model in programs[0].models], programs, tree)
    contents = {**output_tree.contents(tree if compiles else None, built, files, programs), **emitted, **on_dsp}
    if built and java_side.is_wanted(options):
        progress.stage("java")
        made = java_side.files(deployment, programs, built, contents, options, cache)
        contents.update(made)
        emitted.update(made)
    all_made = finishing.Made(
        identity=tuned.identity,
        models=tuple(
            figures.model_report(model.imported, model.passes, programs, index, files)
            for index, model in enumerate(models)
        ),
        contents=contents,
        emitted=tuple(emitted),
        programs=programs,
        built=built,
        libraries=tuple(figures.library_report(item) for item in built),
        live=live,
        measured=tuned.files(),
    )
    return finishing.finish(deployment, options, all_made, began)


def up_to_date(deployment: Deployment, options: Options, progress: Progress) -> BuildReport:
    """The library that is there, if it is of these very things, else a new one."""
    deployments.library_target_of(deployment)
    found = read_build(deployments.output_folder(deployment, options))
    identity = build_identity.known_tuning(deployment, options).identity
    # What a toolchain file of the user's own says is not in the identity. Objects that stay the same are there already.
    if not deployment.toolchains and found is not None and found.libraries and found.fingerprint == identity:
        abis = tuple(library_.abi for library_ in found.libraries if config.is_target(library_.abi))
        if set(deployment.target_abis) <= set(abis) and found.is_whole():
            return found
        # A library for one more ABI does not take the others away.
        deployment = replace(deployment, target_abis=tuple(dict.fromkeys((*abis, *deployment.target_abis))))
    return make(deployment, options, progress, compiles=True)


def _compile(
    deployment: Deployment,
    tree: SourceTree,
    programs: Sequence[TargetProgram],
    options: Options,
    cache: ObjectCache,
    progress: Progress,
) -> tuple[BuiltLibrary, ...]:
    build = functools.partial(
        library.build_all,
        programs,
        tree,
        cache=cache,
        glibc_floor=deployment.glibc_floor,
        toolchain_files=dict(deployment.toolchains),
        android_api=deployment.android_api_level,
        debuggable=options.debuggable,
    )
    return finishing.compiled(deployment, programs, options, progress, lambda owner: build(owner=owner))


def _linked(
    models: Sequence[PreparedModel], algorithms: Algorithms, cache: ObjectCache, progress: Progress
) -> live_side.Build:
    """Builds the libraries of a deployment that differs from the one of the models in its targets alone."""

    def build(deployment: Deployment, options: Options) -> tuple[Sequence[TargetProgram], Sequence[BuiltLibrary]]:
        target, programs = lower(deployment, models, algorithms, progress)
        return programs, _compile(deployment, target.emit(programs), programs, options, cache, progress)

    return build


def _compile_for_dsp(
    deployment: Deployment,
    tree: SourceTree,
    programs: Sequence[TargetProgram],
    options: Options,
    cache: ObjectCache,
    progress: Progress,
) -> dict[str, Path]:
    """The programs on the DSP that the library's models have parts for, by their place in the output."""
    if all(program.dsp is None for program in programs):
        return {}
    progress.stage("compile for the DSP")
    owner = deployments.owner_of(deployment, options)
    folder = library.work_folder(cache, owner, deployment.library_name) / "dsp"
    built = hexagon.build_programs(programs, tree, folder, cache)
    return {f"lib/{program.abi}/{program.file.name}": program.file for program in built}
