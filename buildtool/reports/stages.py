"""From what the stages made to the files and figures of a build."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import buildtool
from buildtool import resources
from buildtool.builders import package
from buildtool.builders.built import BuiltFirmware, BuiltLibrary
from buildtool.codegen import container
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import ConfigError
from buildtool.importers.request import ImportedModel
from buildtool.ir import text
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.work import macs
from buildtool.passes import pipeline
from buildtool.passes.pipeline import PassRun
from buildtool.reports import graph_page, placement
from buildtool.reports.documents import BuildReport, FirmwareReport, LibraryReport, ModelReport
from buildtool.settings import Options
from buildtool.targets.protocol import FirmwareModel, FirmwareProgram, Flashed, ModelSource, PlannedModel, TargetProgram


def version() -> str:
    """The version that reports carry."""
    return buildtool.version()


def model_files(imported: Sequence[ImportedModel], programs: Sequence[TargetProgram]) -> dict[str, bytes]:
    """The files of `model/`: portable, as text and as a page to look at; planned per ABI, as far as the library does
    not hold them itself.
    """
    files: dict[str, bytes] = {}
    for before, model in zip(imported, programs[0].models, strict=True):
        name = model.source.name
        portable = _container(model, planned=False)
        files[f"{name}.pb"], files[f"{name}.data"] = portable.model, portable.data
        files[f"{name}.pb_txt"] = container.describe(portable.model).encode()
        files[f"{name}_index.html"] = _graph_page(before, model.source)
    for program in programs:
        for model in program.models:
            planned = _container(model, planned=True)
            if not program.library.graph_in_library:
                files[f"{program.abi}/{model.source.name}.pb"] = planned.model
            if not program.library.data_in_library:
                files[f"{program.abi}/{model.source.name}.data"] = planned.data
    return files


def _graph_page(before: ImportedModel, source: ModelSource) -> bytes:
    graphs = {"As imported": before.graph, "After the passes": source.graph}
    if source.obscured:
        del graphs["As imported"]
    return graph_page.page(source.name, graphs, version())


def graph_pages(imported: Sequence[ImportedModel], sources: Sequence[ModelSource]) -> dict[str, bytes]:
    """Of firmware: what `model_files` has for people to look at."""
    pairs = zip(imported, sources, strict=True)
    return {f"model/{source.name}_index.html": _graph_page(before, source) for before, source in pairs}


def _container(model: PlannedModel, *, planned: bool) -> container.Container:
    source = model.source if planned else model.portable
    return container.write(
        source.graph,
        name=source.name,
        stored=source.stored,
        plan=model.plan if planned else None,
        input_formats=source.input_formats,
        output_formats=source.output_formats,
    )


def contents(
    tree: SourceTree | None,
    libraries: Sequence[BuiltLibrary],
    models: Mapping[str, bytes],
    programs: Sequence[TargetProgram],
) -> dict[str, bytes | Path]:
    """What the output folder holds, reports aside; without a tree, the models only."""
    names: dict[str, bytes | Path] = {
        f"{package.DEBUG}/{program.abi}/{model.source.name}.names.json": json.dumps(model.names, indent=1).encode()
        for program in programs
        for model in program.models
        if model.names
    }
    if tree is None:
        return {f"model/{name}": data for name, data in models.items()} | names
    return package.contents_of(tree, libraries, models) | names


def emitted(
    options: Options,
    models: Sequence[tuple[ImportedModel, Sequence[PassRun]]],
    sources: Sequence[ModelSource],
    programs: Sequence[TargetProgram],
    tree: SourceTree | None,
) -> dict[str, bytes | Path]:
    """What --emit asks for, by path in the output folder. Each can be read back. `models`: with the passes they ran;
    `sources`: what became of them."""
    files: dict[str, bytes | Path] = {}
    if "ir" in options.emit:
        for (before, runs), source in zip(models, sources, strict=True):
            name = source.name
            graphs = {f"{name}.imported": before.graph, name: source.graph}
            if options.after:
                graphs[f"{name}.after_{options.after}"] = _graph_after(options.after, before.graph, runs)
            for stem, graph in graphs.items():
                written, arrays = text.write(graph)
                files[f"report/{stem}.ir"] = written.encode()
                files[f"report/{stem}.ir.npz"] = _npz(arrays)
    if "plan" in options.emit:
        for program in programs:
            for model in program.models:
                plan = json.dumps(model.plan.as_json(), indent=2) + "\n"
                files[f"report/{model.source.name}.{program.abi}.plan.json"] = plan.encode()
    if "source" in options.emit and tree is not None:
        files.update((f"source/{name}", data) for name, data in tree.files.items())
    return files


def _graph_after(name: str, imported: Graph, runs: Sequence[PassRun]) -> Graph:
    """The graph as it stood when the pass had run for the first time. ConfigError where the model does not run it."""
    names = list(dict.fromkeys(run.name for run in runs))
    if name not in names:
        raise ConfigError(
            f"the pass '{name}' does not run for the model '{imported.name}'",
            rule=f"its passes: {', '.join(names) or 'none'}",
            remedy="name it in graph_optimize_options, or choose another one: lathe inspect passes",
        )
    found: list[Graph] = []

    def keep(done: str, graph: Graph) -> None:
        if done == name and not found:
            found.append(graph.clone())

    quantised = any(kind.name in names for kind in pipeline.FROM_QUANTISED if kind not in pipeline.ORDER)
    pipeline.optimise(imported.clone(), names, keep, quantised=quantised)
    return found[0]


def _npz(arrays: Mapping[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def model_report(
    imported: ImportedModel,
    passes: Sequence[PassRun],
    programs: Sequence[TargetProgram],
    index: int,
    files: Mapping[str, bytes],
) -> ModelReport:
    """The figures of one model of the library."""
    source = programs[0].models[index].source
    return ModelReport(
        name=source.name,
        platform=imported.platform,
        source_nodes=imported.source_nodes,
        nodes=len(list(source.graph.walk())),
        macs=macs(source.graph),
        data_bytes=len(files[f"{source.name}.data"]),
        operators=dict(sorted(Counter(node.op.name for node in source.graph.walk()).items())),
        passes=tuple(vars(run) for run in passes),
        plans=tuple(
            {
                "abi": program.abi,
                "arena_size": program.models[index].plan.arena_size,
                "lower_bound": program.models[index].lower_bound,
                "kernels": dict(sorted(Counter(chain.from_iterable(program.models[index].plan.kernels)).items())),
                **(
                    {"single_precision": [vars(node) for node in kept]}
                    if (kept := program.models[index].kept) and not source.obscured
                    else {}
                ),
                **(
                    {"placement": placement.of_plan(told, obscured=source.obscured)}
                    if (told := program.models[index].placement)
                    else {}
                ),
            }
            for program in programs
        ),
    )


def library_report(built: BuiltLibrary) -> LibraryReport:
    """The figures of one library."""
    return LibraryReport(
        abi=built.abi,
        shared=f"lib/{built.abi}/{built.shared.name}",
        static=f"lib/{built.abi}/{built.static.name}",
        bytes_stripped=built.info.bytes_stripped,
        bytes_static=built.static.stat().st_size,
        kernels=built.info.kernels,
        exported=built.info.exported,
        needed=built.info.needed,
        glibc=built.info.glibc,
        sizes=built.sizes.as_json(),
        compiled=built.compiled,
        reused=built.reused,
        seconds=round(built.seconds, 3),
    )


def firmware_model_report(
    model: FirmwareModel, platform: str, imported: ImportedModel | None, passes: Sequence[PassRun]
) -> ModelReport:
    """The figures of one model of firmware; a description was not imported."""
    layers = sum(model.operators.values())
    return ModelReport(
        name=model.name,
        platform=platform,
        source_nodes=imported.source_nodes if imported else layers,
        nodes=layers,
        macs=model.macs,
        data_bytes=model.data_bytes,
        operators=dict(model.operators),
        passes=tuple(vars(run) for run in passes),
    )


def firmware_reports(
    programs: Sequence[FirmwareProgram],
    built: Sequence[BuiltFirmware],
    contents: Mapping[str, bytes | Path],
    flashed: Mapping[str, Sequence[Flashed]],
) -> list[FirmwareReport]:
    """The figures of the firmware for each chip. `contents`: what the build writes; `flashed`: what packages put where,
    by ABI."""
    known = {firmware.abi: firmware for firmware in built}
    found = []
    for program in programs:
        firmware, folder = known.get(program.abi), f"lib/{program.abi}/"
        files = {path: len(data) for path, data in sorted(contents.items()) if isinstance(data, bytes)}
        found.append(
            FirmwareReport(
                abi=program.abi,
                compiler=firmware.compiler if firmware else "",
                files={path: size for path, size in files.items() if path.startswith(folder)},
                images={f"{folder}{image.name}.elf": image.memory_bytes for image in firmware.images}
                if firmware
                else {},
                models=tuple(_firmware_figures(model) for model in program.models),
                flash=tuple(vars(part) for part in flashed.get(program.abi, ())),
                seconds=round(firmware.seconds, 3) if firmware else 0.0,
            )
        )
    return found


def _firmware_figures(model: FirmwareModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "figures": [vars(figure) for figure in model.figures],
        "details": dict(model.details),
    }


def reports(built: BuildReport) -> dict[str, bytes]:
    """The figures of a build, as a file of `report/`."""
    return {"report/build.json": built.text().encode()}


def fingerprint(facts: Any, files: Iterable[Path], folders: Iterable[Path] = ()) -> str:
    """A hash of everything that decides what a build makes: facts, files by content, folders by names and contents.

    No path goes into it, so that it is the same wherever the build takes place.
    """
    digest = hashlib.sha256(json.dumps([version(), facts], sort_keys=True, default=str).encode())
    for file in files:
        for part in sorted(path for path in file.rglob("*") if path.is_file()) if file.is_dir() else (file,):
            digest.update(hashlib.sha256(part.read_bytes()).digest())
    for folder in (*_own_sources(), *folders):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


_SOURCES = frozenset({".py", ".c", ".cc", ".h", ".yaml", ".cmake", ".j2", ".css", ".js", ".proto"})


def _own_sources() -> tuple[Path, ...]:
    """In a source tree the version says little: what is there counts."""
    if not resources.in_source_tree():
        return ()
    package_folder = Path(buildtool.__file__).parent
    return (package_folder, resources.native_dir(), resources.cmake_dir(), resources.toolchains_dir())
