"""What the output folder of a build holds, by path."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool.builders import macho, package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.wasm import shared_pages
from buildtool.codegen import wasm, xcframework
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import ConfigError
from buildtool.importers.request import ImportedModel
from buildtool.ir import text
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes import pipeline
from buildtool.passes.pipeline import PassRun
from buildtool.reports.documents import BuildReport
from buildtool.settings import Options
from buildtool.targets.protocol import ModelSource, TargetProgram


def contents(
    tree: SourceTree | None,
    libraries: Sequence[BuiltLibrary],
    models: Mapping[str, bytes | Path],
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
    return (
        package.contents_of(tree, libraries, models)
        | names
        | for_javascript(programs, libraries)
        | _for_xcode(tree, libraries, programs)
    )


def for_javascript(programs: Sequence[TargetProgram], libraries: Sequence[BuiltLibrary]) -> dict[str, bytes | Path]:
    """What makes an npm package of WebAssembly modules."""
    built = {library.abi: library.shared for library in libraries}
    modules = [
        wasm.WasmLibrary(
            name=program.library.name,
            identifier=program.library.identifier,
            stem=program.library.stem,
            abi=program.abi,
            models={model.source.name: model.source.graph for model in program.models},
            in_files=not program.library.data_in_library,
            pages=shared_pages(built[program.abi]) if program.abi in built else 0,
        )
        for program in programs
        if program.object_format == "wasm"
    ]
    files: dict[str, bytes | Path] = {
        f"lib/{module.abi}/{name}": data for module in modules for name, data in wasm.module_files(module).items()
    }
    return files | (wasm.package_files(modules) if modules else {})


def _for_xcode(
    tree: SourceTree, libraries: Sequence[BuiltLibrary], programs: Sequence[TargetProgram]
) -> dict[str, bytes | Path]:
    """The archives for Apple's systems as Xcode takes them."""
    formats = {program.abi: program.object_format for program in programs}
    slices = []
    for library in libraries:
        if formats[library.abi] == "macho":
            found = macho.read(library.shared)
            slices.append(xcframework.Slice(library.shared, found.machine, *found.platform))
    if not slices:
        return {}
    headers = {name.removeprefix("include/"): data for name, data in tree.files.items() if name.startswith("include/")}
    named = programs[0].library
    return xcframework.files(named.name, named.identifier, slices, headers)


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
            remedy="add it to graph_optimize_options, or choose another one: lathe inspect passes",
        )
    found: list[Graph] = []

    def keep(done: PassRun, graph: Graph) -> None:
        if done.name == name and not found:
            found.append(graph.clone())

    quantised = any(kind.name in names for kind in pipeline.FROM_QUANTISED if kind not in pipeline.order())
    pipeline.optimise(imported.clone(), names, keep, quantised=quantised)
    return found[0]


def _npz(arrays: Mapping[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def reports(built: BuildReport) -> dict[str, bytes]:
    """The figures of a build, as a file of `report/`."""
    return {"report/build.json": built.text().encode()}
