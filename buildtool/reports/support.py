"""Which operators of a model each ABI can run and why not, and which ones can be imported at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, InternalError, LatheError, Problem, UnsupportedError, Where
from buildtool.importers.frameworks import import_model, importer, platform_of, platforms, source_model
from buildtool.importers.model import SourceModel, SourceNode
from buildtool.importers.recognition import folder, model_in, recognise
from buildtool.importers.request import ImportRequest
from buildtool.ir.dims import DimExpr, bounds
from buildtool.ir.graph import Graph, Node
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.plan import manifest, select
from buildtool.plan.manifest import Manifests
from buildtool.quant.ranges import stored_as
from buildtool.reports.table import Table
from buildtool.targets.protocol import AbiCapabilities, FirmwareTarget, LibrarySource, ModelSource
from buildtool.targets.registry import all_targets, chips_of, library_targets
from buildtool.wording import near_files

YES, NO = "yes", "no"
MERGED = "merged"  # the passes made it part of another node, or computed it
UNKNOWN = "?"


def all_operators() -> dict[str, Any]:
    """Every operator that an importer or the installed `onnx` package knows, with whether it can be imported."""
    import onnx.defs

    schemas = {schema.name: schema for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    items = []
    for platform in platforms():
        known = importer(platform).supported_operators()
        others = schemas if platform == "onnx" else {}
        for name in sorted({*known, *others}):
            since = others[name].since_version if name in others else None
            old = name in others and others[name].deprecated
            items.append(
                {"platform": platform, "name": name, "imported": name in known, "since": since, "deprecated": old}
            )
    return {"kind": "all_ops", "platforms": list(platforms()), "items": items}


def of_deployment(
    path: Path, models: Sequence[tuple[str, ImportRequest]], abis: Sequence[str], op_paths: Sequence[Path]
) -> dict[str, Any]:
    """The operators of all models of a deployment, with the shapes and for the ABIs that it declares."""
    found = [
        {"name": model.name, **of_model(model.model_file, abis, op_paths, model, platform)}
        for platform, model in models
    ]
    return {"kind": "support_of_deployment", "path": str(path), "abis": found[0]["abis"], "models": found}


def of_model(
    file: Path,
    abis: Sequence[str] = (),
    op_paths: Sequence[Path] = (),
    request: ImportRequest | None = None,
    platform: str = "",
) -> dict[str, Any]:
    """The operators of a model and of what the passes make of it, by ABI (all of libraries, where none is given).

    `request`: how a deployment declares it; else inputs are as the model has them. `platform`: that of the model,
    where its content is not to say it.
    """
    able, chips = _capabilities(abis)
    platform = platform or platform_of(file)
    if not platform:
        raise _unknown(file)
    own = registry(op_paths)
    request = request or ImportRequest(file.stem, model_in(file), operators=own)
    model = source_model(platform, request)
    sources = list(_walk(model.nodes))
    known = set(importer(platform).supported_operators())
    graph, problems = _optimised(platform, request)
    lacking = _lacking(graph, able, op_paths) if graph else {}
    for abi, target in chips.items() if graph else ():
        on_chip, others = _lacking_on_chip(platform, request, target, abi)
        lacking, problems = {**lacking, **on_chip}, (*problems, *others)
    left = {node.name for node in graph.walk()} if graph else set()
    columns = (*able, *chips)
    operators = []
    for title, nodes in sorted(_by_title(sources).items()):
        supported = title in known or title.rpartition(".")[2] in own
        row: dict[str, Any] = {"name": title, "nodes": len(nodes), "imported": supported}
        for abi in columns:
            without = [name for name in nodes if (abi, name) in lacking]
            state = NO if without or not supported else UNKNOWN if graph is None else YES
            row.setdefault("abis", {})[abi] = MERGED if state == YES and not left.intersection(nodes) else state
        operators.append(row)
    found = {problem.what: problem for problem in (*problems, *lacking.values())}
    return {
        "kind": "support",
        "path": str(file),
        "platform": platform,
        "inputs": _inputs(graph) if graph else _open_inputs(model),
        "abis": list(columns),
        "operators": operators,
        "nodes": [_support(row) for row in operators],
        "graph_operators": _graph_operators(graph, lacking, columns) if graph else [],
        "problems": [problem.as_json() for problem in found.values()],
    }


def _support(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as programs like it. Where sizes have to be declared first, what can be imported counts as supported."""
    able = {abi: state in (YES, MERGED) or (state == UNKNOWN and row["imported"]) for abi, state in row["abis"].items()}
    return {"operator": row["name"], "count": row["nodes"], "supported": able}


def _capabilities(abis: Sequence[str]) -> tuple[dict[str, AbiCapabilities], dict[str, FirmwareTarget]]:
    """What the wanted ABIs can run, and the targets of chips among them. ConfigError names what there is."""
    known = {abi: found for target in library_targets() for abi, found in target.capabilities.abis.items()}
    chips = {
        abi: target
        for target in all_targets().values()
        if isinstance(target, FirmwareTarget)
        for abi in chips_of(target)
    }
    for abi in abis:
        if abi not in known and abi not in chips:
            raise ConfigError(f"no target builds for the ABI '{abi}'", rule=f"ABIs: {', '.join((*known, *chips))}")
    wanted = {abi: found for abi, found in known.items() if not abis or abi in abis}
    return wanted, {abi: target for abi, target in chips.items() if abi in abis}


def _unknown(file: Path) -> LatheError:
    """The error for a file that no importer reads."""
    if not file.exists():
        return ConfigError("there is no such file", where=Where(file=str(file)), remedy=near_files(file))
    found = recognise(file) if file.is_file() else folder(file)
    what = f"this is {found.what}" if found else "this is not a model that Lathe knows"
    remedy = found.remedy if found else "name its framework with --platform"
    return UnsupportedError(f"{what}, which cannot be imported", where=Where(file=str(file)), remedy=remedy)


def _inputs(graph: Graph) -> list[dict[str, Any]]:
    return [
        {
            "name": value.name,
            "dtype": value.type.dtype.value,
            "shape": [dim if isinstance(dim, int) else _bounded(dim) for dim in value.type.shape],
        }
        for value in graph.inputs
    ]


def _bounded(dim: DimExpr) -> str:
    low, high = bounds(dim)
    return f"{dim}={low}..{high}"


def _open_inputs(model: SourceModel) -> list[dict[str, Any]]:
    """What the file itself says of its inputs: sizes that are names or missing have to be declared."""
    return [
        {
            "name": tensor.name,
            "dtype": tensor.dtype.value if tensor.dtype else None,
            "shape": ["?" if dim is None else dim for dim in tensor.shape or ()],
        }
        for tensor in model.inputs.values()
    ]


def _walk(nodes: Iterable[SourceNode]) -> Iterator[tuple[str, str]]:
    """Title and name of every node of the file, those inside of others included."""
    for node in nodes:
        yield node.title, node.name
        for body in node.bodies.values():
            yield from _walk(body().nodes)


def _by_title(sources: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for title, name in sources:
        found.setdefault(title, []).append(name)
    return found


def _optimised(
    platform: str, request: ImportRequest, *, quantised: bool = False
) -> tuple[Graph | None, Sequence[Problem]]:
    """The graph behind the passes; where there is none, why."""
    try:
        graph = import_model(platform, request).graph
        pipeline.optimise(graph, quantised=quantised)
    except InternalError:
        raise
    except LatheError as error:
        return None, error.problems
    return graph, ()


def _lacking(
    graph: Graph, known: Mapping[str, AbiCapabilities], op_paths: Sequence[Path]
) -> dict[tuple[str, str], Problem]:
    """What no kernel runs, by ABI and name of the node."""
    manifests = manifest.load(op_paths)
    return {
        (abi, node.name): problem
        for abi, found in known.items()
        for node in graph.walk()
        if (problem := _problem(node, manifests, abi, found)) is not None
    }


def _lacking_on_chip(
    platform: str, request: ImportRequest, target: FirmwareTarget, abi: str
) -> tuple[dict[tuple[str, str], Problem], list[Problem]]:
    """What a chip cannot do, by ABI and name of the node, and what is said of no node.

    Ranges are made up: they decide how numbers are stored, and hardly what can be done.
    """
    graph, problems = _optimised(platform, request, quantised=True)
    if graph is None:
        return {}, list(problems)
    graph.ranges.update({value.name: stored_as(-1.0, 1.0) for value in graph.values()})
    model = ModelSource(request.name, graph, quantised=True)
    try:
        target.lower(LibrarySource(request.name, "model", (model,)), abi)
    except InternalError:
        raise
    except LatheError as error:
        told = [replace(problem, what=f"{abi}: {problem.what}") for problem in error.problems]
        by_node = {(abi, problem.where.node): problem for problem in told if problem.where.node}
        return by_node, [problem for problem in told if not problem.where.node]
    return {}, []


def _problem(node: Node, manifests: Manifests, abi: str, found: AbiCapabilities) -> Problem | None:
    try:
        select.select(Graph(nodes=[node]), manifests, abi=abi, isas=found.isas, baseline=found.baseline)
    except UnsupportedError as error:
        return error.problems[0]
    return None


def _graph_operators(
    graph: Graph, lacking: Mapping[tuple[str, str], Problem], abis: tuple[str, ...]
) -> list[dict[str, Any]]:
    counts = Counter(node.op.name for node in graph.walk())
    return [
        {
            "name": op,
            "nodes": count,
            "abis": {
                abi: NO if any((abi, node.name) in lacking for node in graph.walk() if node.op.name == op) else YES
                for abi in abis
            },
        }
        for op, count in sorted(counts.items())
    ]


# -- tables ----------------------------------------------------------------------------------------------------------
def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    if document["kind"] == "all_ops":
        return _show_all(document)
    if document["kind"] == "support_of_deployment":
        shown: list[str | Table] = []
        for model in document["models"]:
            shown += ["", f"model {model['name']}: {model['path']}", *_show_model(model)]
        return shown[1:]
    return _show_model(document)


def _show_model(document: Mapping[str, Any]) -> list[str | Table]:
    inputs = [f"input {item['name']} [{', '.join(map(str, item['shape']))}]" for item in document["inputs"]]
    abis = document["abis"]
    sources = Table(["operator", "nodes", "imported", *abis], right=frozenset({"nodes"}))
    for row in document["operators"]:
        sources.add(row["name"], row["nodes"], YES if row["imported"] else NO, *(row["abis"][abi] for abi in abis))
    shown: list[str | Table] = [*inputs, "", sources]
    if document["graph_operators"]:
        made = Table(["after the passes", "nodes", *abis], right=frozenset({"nodes"}))
        for row in document["graph_operators"]:
            made.add(row["name"], row["nodes"], *(row["abis"][abi] for abi in abis))
        shown += ["", made]
    for problem in document["problems"]:
        reasons = [problem[key] for key in ("rule", "remedy") if problem.get(key)]
        shown.append("\n  ".join([problem["what"], *reasons]))
    return shown


def _show_all(document: Mapping[str, Any]) -> list[str | Table]:
    shown: list[str | Table] = []
    for platform in document["platforms"]:
        items = [item for item in document["items"] if item["platform"] == platform]
        dated = any(item["since"] for item in items)
        table = Table([platform, "imported", *(["last changed in opset", ""] if dated else [])])
        for item in items:
            more = [item["since"], "old" if item["deprecated"] else ""] if dated else []
            table.add(item["name"], YES if item["imported"] else NO, *more)
        able = sum(item["imported"] for item in items)
        shown += [table, f"{able} of {len(items)} operators of {platform} can be imported", ""]
    return shown[:-1]
