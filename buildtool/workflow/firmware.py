"""From a deployment to firmware: the stages of `lathe convert`, `build` and `package` for bare chips."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from buildtool.artifacts import figures, model_files, output_tree
from buildtool.builders import firmware, package
from buildtool.builders.built import BuiltFirmware
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.source_tree import SourceTree
from buildtool.config import Deployment
from buildtool.errors import ConfigError, Problem, UnsupportedError, Where
from buildtool.passes import fold_constants, pipeline, real_borders
from buildtool.passes.real_borders import Borders
from buildtool.reports.documents import BuildReport, ModelReport
from buildtool.requests import build_identity, deployments, library_sources, model_sources, runs
from buildtool.settings import EVERYTHING, Options, Progress
from buildtool.targets.protocol import FirmwareProgram, FirmwareTarget, Flashed, FlashedTarget
from buildtool.workflow import finishing
from buildtool.workflow.preparing import PreparedModel, prepare


def make(
    deployment: Deployment, target: FirmwareTarget, options: Options, progress: Progress, *, compiles: bool
) -> BuildReport:
    """Everything: `<output>/<library>/{include,lib/<abi>,model,report}` and its archive; else no images."""
    began = time.monotonic()
    _refuse_options(deployment, target, options)
    own = _own_program(options)
    deployments.output_folder(deployment, options)  # refused before the long work
    tools = _tools(deployment, target) if compiles else []  # missing tools are reported before the long work
    models, programs = lower(deployment, target, options, progress)
    tree = target.emit(programs)
    built: tuple[BuiltFirmware, ...] = ()
    if compiles:
        cache = ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
        built = _compile(deployment, tree, programs, tools, options, cache, progress)
        _hold_limits(tree, built, progress)
    progress.stage("write")
    sources = programs[0].library.models
    pages = model_files.graph_pages([model.stages for model in models], sources)
    contents: dict[str, bytes | Path] = {**package.firmware_contents(tree, built), **pages}
    flashed: dict[str, Sequence[Flashed]] = {}
    if isinstance(target, FlashedTarget) and options.flash:
        for program, firmware_ in zip(programs, built, strict=True):
            images = {image.name: image.binary for image in firmware_.images}
            files, flashed[program.abi] = target.flash(program, images, own)
            contents.update((f"lib/{program.abi}/{name}", data) for name, data in files.items())
    graphs = [(model.imported, model.passes) for model in models]
    emitted = output_tree.emitted(options, graphs, sources, (), tree)
    made = finishing.Made(
        identity=build_identity.known_tuning(deployment, options).identity,
        models=tuple(_model_reports(deployment, models, programs[0])),
        contents={**contents, **emitted},
        emitted=tuple(emitted),
        firmware=tuple(figures.firmware_reports(programs, built, contents, flashed)),
        compilers={item.abi: item.compiler for item in built},
    )
    return finishing.finish(deployment, options, made, began)


def compile_only(
    deployment: Deployment, target: FirmwareTarget, options: Options, progress: Progress, cache: ObjectCache
) -> tuple[tuple[FirmwareProgram, ...], tuple[BuiltFirmware, ...]]:
    """Programs and their images, to run them at once: nothing is written to the output."""
    tools = _tools(deployment, target)
    _, programs = lower(deployment, target, options, progress)
    return programs, _compile(deployment, target.emit(programs), programs, tools, options, cache, progress)


def commands(deployment: Deployment, target: FirmwareTarget, options: Options, progress: Progress) -> tuple[str, ...]:
    """What a build would run. Writes generated sources into the cache, nothing else."""
    tools = _tools(deployment, target)
    _, programs = lower(deployment, target, options, progress)
    cache, processes = finishing.dry_cache()
    _compile(deployment, target.emit(programs), programs, tools, options, cache, progress)
    return tuple(processes.commands)


def lower(
    deployment: Deployment, target: FirmwareTarget, options: Options, progress: Progress
) -> tuple[tuple[PreparedModel, ...], tuple[FirmwareProgram, ...]]:
    """Import and optimise the models that are graphs, and place all of them on each chip."""
    graphs = tuple(model for model in deployment.models if not target.capabilities.reads(model.platform))
    stored = target.capabilities.keeps_stored
    narrow = tuple(replace(model, quantize=replace(model.quantize, enabled=True)) for model in graphs)
    models = prepare(
        replace(deployment, models=graphs if stored else narrow), options, progress, keeps_stored=stored, drawn=True
    )
    progress.stage("place")
    for model in models:
        if not stored and fold_constants.unfold(model.graph):
            pipeline.optimise(model.graph, model.config.graph_optimize_options or None, quantised=True)
    known = {model.config.name: (model.imported, model.graph) for model in models}
    borders = {model.config.identifier: Borders() if stored else _without_borders(model) for model in models}
    source = library_sources.library_source(deployment, known, library_sources.Algorithms(), options.allow_unverified)
    samples = {model.config.identifier: runs.run_of(model.config, options, EVERYTHING)[0] for model in models}
    named = {
        model.config.identifier: bool(model_sources.recorded(model.config, options.allow_unverified)[0])
        for model in models
    }
    models_ = tuple(
        replace(
            model,
            sample=borders[model.name].real(samples[model.name]),
            sample_is_real=named[model.name],
            borders=borders[model.name],
        )
        for model in source.models
    )
    source = replace(source, models=models_)
    programs = tuple(target.lower(source, abi) for abi in deployment.target_abis)
    for program in programs:
        for note in program.notes:
            progress.note(note)
    return models, programs


def _without_borders(model: PreparedModel) -> Borders:
    """The chip stores inputs and outputs its own way, whatever the model does."""
    borders = real_borders.take(model.graph)
    if borders.inputs or borders.outputs:
        pipeline.optimise(model.graph, model.config.graph_optimize_options or None, quantised=True)
    return borders


def _tools(deployment: Deployment, target: FirmwareTarget) -> list[firmware.Tools]:
    return [firmware.find(target.capabilities.abis[abi], abi) for abi in deployment.target_abis]


def _compile(
    deployment: Deployment,
    tree: SourceTree,
    programs: Sequence[FirmwareProgram],
    tools: Sequence[firmware.Tools],
    options: Options,
    cache: ObjectCache,
    progress: Progress,
) -> tuple[BuiltFirmware, ...]:
    build = functools.partial(firmware.build_all, programs, tree, tools, cache=cache)
    return finishing.compiled(deployment, programs, options, progress, lambda owner: build(owner=owner))


def _hold_limits(tree: SourceTree, built: Sequence[BuiltFirmware], progress: Progress) -> None:
    """UnsupportedError where a model links to more flash than its limit."""
    problems = []
    for made in built:
        sizes = {each.name: each.linked for each in made.archives}
        for archive in tree.archives.get(made.abi, ()):
            for limited in archive.limits:
                size, where = sizes[archive.name][limited.model], Where(model=limited.model)
                rule = "what `invoke` reaches, linked, without the C library; `flash_limit` limits it"
                if size <= limited.bytes:
                    note = f"the model takes {size:,} of {limited.bytes:,} bytes of flash on {made.abi}"
                    progress.note(Problem(note, where, rule=rule))
                    continue
                less = 2 * limited.bytes - size
                remedy = (
                    f"set it to {less}: fewer layers get code of their own"
                    if limited.can_shrink
                    else f"set it to {size}"
                )
                what = f"the model takes {size:,} bytes of flash on {made.abi}, more than {limited.bytes:,}"
                problems.append(Problem(what, where, rule=rule, remedy=remedy))
    if problems:
        raise UnsupportedError(problems)


def _model_reports(
    deployment: Deployment, models: Sequence[PreparedModel], program: FirmwareProgram
) -> Iterator[ModelReport]:
    platforms = {model.identifier: model.platform for model in deployment.models}
    prepared = {model.config.identifier: model for model in models}
    for model in program.models:
        known = prepared.get(model.name)
        imported, passes = (known.imported, known.passes) if known else (None, ())
        yield figures.firmware_model_report(model, platforms[model.name], imported, passes)


def _own_program(options: Options) -> bytes | None:
    """That of the user. ConfigError where it cannot be read."""
    if options.program is None:
        return None
    try:
        return options.program.read_bytes()
    except OSError as problem:
        raise ConfigError(
            f"the program cannot be read: {problem.strerror}",
            where=Where(file=str(options.program)),
            rule="--program names the image of a program, a .bin file",
        ) from problem


def refuse(deployment: Deployment, target: FirmwareTarget, options: Options) -> list[firmware.Tools]:
    """UnsupportedError or ToolchainError where a build cannot begin; else what compiles."""
    _refuse_options(deployment, target, options)
    return _tools(deployment, target)


def _refuse_options(deployment: Deployment, target: FirmwareTarget, options: Options) -> None:
    """UnsupportedError with everything that only libraries have, or what this target does not do."""
    if options.flash and not isinstance(target, FlashedTarget):
        raise UnsupportedError(
            f"'lathe package' makes nothing for {target.name}",
            where=deployment.where_of("target_abis"),
            rule="it packs images for the flash memory of boards whose tool reads such a package",
            remedy="use the files of `lathe build`",
        )
    narrowed = [
        Problem(
            "'quantize_large_weights' applies to models that compute in single precision",
            model.where_of("quantize_large_weights"),
            rule=f"{target.name} computes with integers",
            remedy="remove the line",
        )
        for model in deployment.models
        if model.quantize.large_weights
    ]
    if narrowed:
        raise UnsupportedError(narrowed)
    asked = {"--java": options.java, "--aar": options.aar, "--debuggable": options.debuggable}
    asked |= {"--report-live": options.live}
    unknown = [word for word, wanted in asked.items() if wanted]
    if unknown:
        raise UnsupportedError(
            f"{' and '.join(unknown)} is not available for {target.name}",
            where=deployment.where_of("target_abis"),
            rule="these options are for libraries; this target gets firmware",
            remedy=f"leave out {' and '.join(unknown)}",
        )
