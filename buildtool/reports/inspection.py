"""Says what a file is and what is inside it: libraries, converted models, ONNX models; and what Lathe itself can do."""

from __future__ import annotations

import dataclasses
import inspect as python_inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, ModelFileError, Where
from buildtool.ir.graph import Node, Value
from buildtool.ir.work import macs
from buildtool.ops.quantize_linear import QuantizeLinear
from buildtool.ops.registry import registry
from buildtool.reports import descriptions, footprint, size, source_models
from buildtool.reports.table import Table, byte_count
from buildtool.wording import near_files

LISTS = ("ops", "passes")
_KINDS = ("library", "build", "model", "onnx", source_models.KIND, "deployment")
_SUFFIXES = {
    ".so": "library", ".a": "library", ".o": "library", ".pb": "model",
    ".onnx": "onnx", ".yml": "deployment", ".yaml": "deployment",
}  # fmt: skip


def kinds() -> tuple[str, ...]:
    """What a file can be."""
    return (*_KINDS, *sorted(descriptions.kinds()))


def kind_of(file: Path) -> str:
    """What a file is, by its content and its name; a folder without a model is a build. ConfigError for others."""
    if file.is_dir():
        return source_models.KIND if source_models.is_one(file) else "build"
    try:
        if file.exists() and not file.is_file():
            what = "this is a device or a pipe, not a file"
            raise ConfigError(what, where=Where(file=str(file)), remedy="copy what it gives into a file")
        with file.open("rb") as stream:
            head = stream.read(8)
    except OSError as problem:
        missing = isinstance(problem, FileNotFoundError)
        remedy = (near_files(file) or "give a file, or one of: ops, passes") if missing else ""
        raise ConfigError(
            f"the file cannot be read: {problem.strerror}", where=Where(file=str(file)), remedy=remedy
        ) from problem
    if head.startswith((b"\x7fELF", b"!<arch>\n", b"\0asm")):
        return "library"
    if source_models.is_one(file):
        return source_models.KIND
    known = {**descriptions.suffixes(), **_SUFFIXES}
    kind = known.get(file.suffix.lower(), "")
    if not kind or kind == "library":
        raise ConfigError(
            "the kind of this file is unknown",
            where=Where(file=str(file)),
            rule="a deployment (.yml), a model of any framework, a converted model (.pb), a library (.so, .a, .wasm)",
            remedy=f"give its kind: lathe inspect {'|'.join(kinds())} {file}",
        )
    return kind


def inspect(kind: str, file: Path | None, op_paths: Sequence[Path] = ()) -> dict[str, Any]:
    """The document for one of LISTS, or for a file of one of `kinds` other than a deployment."""
    if kind == "ops":
        return _operators(op_paths)
    if kind == "passes":
        return _passes()
    if file is None:
        raise ConfigError(f"`lathe inspect {kind}` needs a file", remedy=f"lathe inspect {kind} FILE")
    if kind == "build":
        return footprint.of_build(file)
    if kind == source_models.KIND:
        return source_models.card(file, op_paths)
    if not file.is_file():
        raise ConfigError("there is no such file", where=Where(file=str(file)), remedy=near_files(file))
    if kind == "library":
        from buildtool.builders import elf, macho, wasm

        sizes = footprint.sizes_of(file)
        reader = wasm if wasm.is_module(file) else macho if macho.is_library(file) else elf
        info = reader.inspect_library(file)
        return {"kind": "library", **info.as_json()} | ({"sizes": sizes} if sizes else {})
    if kind in descriptions.kinds():
        return descriptions.inspect(kind, file)
    return _onnx(file) if kind == "onnx" else _model(file, op_paths)


def parts(document: Mapping[str, Any], *, verbose: bool = False) -> list[str | Table]:
    """The document for people."""
    render = {
        "library": _show_library,
        "build": footprint.parts,
        "model": _show_model,
        "onnx": _show_onnx,
        "deployment": _show_deployment,
    }
    if document["kind"] == source_models.KIND:
        return source_models.parts(document)
    if document["kind"] in render:
        return render[document["kind"]](document, verbose)
    if document["kind"] in descriptions.kinds():
        return descriptions.parts(document, verbose)
    return [_show_list(document)]


# -- documents -------------------------------------------------------------------------------------------------------
def _model(file: Path, op_paths: Sequence[Path]) -> dict[str, Any]:
    from buildtool.codegen import container

    data_file = file.with_suffix(".data")
    if not data_file.is_file():
        raise ModelFileError(
            "the weights are missing", where=Where(file=str(data_file)), rule="they belong next to the .pb"
        )
    data = data_file.read_bytes()
    loaded = container.load(file.read_bytes(), data, registry(op_paths), str(file))
    graph, plan = loaded.graph, loaded.plan
    return {
        "kind": "model",
        "path": str(file),
        "name": loaded.name,
        "inputs": _tensors(graph.inputs, loaded.input_formats),
        "outputs": _tensors(graph.outputs, loaded.output_formats),
        "nodes": len(list(graph.walk())),
        "operators": dict(sorted(Counter(node.op.name for node in graph.walk()).items())),
        "macs": macs(graph),
        "data_bytes": len(data),
        "abi": plan.abi if plan else None,
        "arena_size": plan.arena_size if plan else None,
        "kernels": sorted(set(chain.from_iterable(plan.kernels))) if plan else [],
        "quantised": [_quantised(node) for node in graph.walk() if isinstance(node.op, QuantizeLinear)],
        "body": [
            {
                "operator": str(node.op),
                "name": node.name,
                "outputs": [str(value.type) for value in node.outputs],
                "kernels": list(plan.kernels[index]) if plan else [],
                "packing": plan.packings[index] if plan and plan.packings else "",
            }
            for index, node in enumerate(graph.walk())
        ],
    }


def _quantised(node: Node) -> dict[str, Any]:
    """What a node rounds, to which whole numbers, and what these stand for."""
    scale, zero = node.inputs[1].constant, node.inputs[2].constant if len(node.inputs) > 2 else None
    return {
        "name": node.name,
        "tensors": list(node.inputs[0].source_names),
        "dtype": node.outputs[0].type.dtype.value,
        "scales": [] if scale is None else scale.reshape(-1).tolist(),
        "zero_points": [] if zero is None else zero.reshape(-1).tolist(),
    }


def _tensors(values: Sequence[Value], formats: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": value.name,
            "dtype": value.type.dtype.value,
            "shape": [dim if isinstance(dim, int) else str(dim) for dim in value.type.shape],
            "format": formats[index] if index < len(formats) else "",
        }
        for index, value in enumerate(values)
    ]


def _onnx(file: Path) -> dict[str, Any]:
    import onnx

    from buildtool.importers.frameworks import importer
    from buildtool.importers.recognition import in_its_place

    try:
        model = onnx.load(file, load_external_data=False)
    except Exception as problem:  # protobuf's own classes differ between versions
        where = Where(file=str(file))
        if other := in_its_place(file):
            raise ModelFileError(
                f"this is {other.what}, and not the model", where=where, remedy=other.remedy
            ) from problem
        raise ModelFileError(
            "this is not an ONNX model: it is damaged, truncated or of another kind",
            where=where,
            remedy="export or download it again",
        ) from problem
    known = set(importer("onnx").supported_operators())
    weights = {tensor.name for tensor in model.graph.initializer}
    counts = Counter(node.op_type for node in model.graph.node)

    def tensor(item: onnx.ValueInfoProto) -> dict[str, Any]:
        kind = item.type.tensor_type
        shape = [dim.dim_value or dim.dim_param or "?" for dim in kind.shape.dim]
        return {"name": item.name, "dtype": onnx.TensorProto.DataType.Name(kind.elem_type).lower(), "shape": shape}

    return {
        "kind": "onnx",
        "path": str(file),
        "name": model.graph.name,
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "ir_version": model.ir_version,
        "opsets": {item.domain or "ai.onnx": item.version for item in model.opset_import},
        "inputs": [tensor(item) for item in model.graph.input if item.name not in weights],
        "outputs": [tensor(item) for item in model.graph.output],
        "nodes": len(model.graph.node),
        "weights": len(weights),
        "operators": dict(sorted(counts.items())),
        "unsupported": sorted(set(counts) - known),
    }


def _operators(op_paths: Sequence[Path]) -> dict[str, Any]:
    from buildtool.plan import manifest

    kernels = manifest.load(op_paths)
    return {
        "kind": "ops",
        "items": [
            {
                "name": name,
                "summary": _first_line(python_inspect.getdoc(operator)),
                "attributes": [field.name for field in dataclasses.fields(operator)],
                "kernels": [kernel.name for kernel in kernels.of(name)],
            }
            for name, operator in sorted(registry(op_paths).items())
        ],
    }


def _passes() -> dict[str, Any]:
    from buildtool.passes import pipeline

    return {
        "kind": "passes",
        "items": [{"name": item.name, "summary": item.summary} for item in pipeline.available()],
    }


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


# -- tables ----------------------------------------------------------------------------------------------------------
def _show_library(document: Mapping[str, Any], verbose: bool) -> list[str | Table]:
    facts = Table(["library", document["library"] or "(not made by Lathe)"])
    facts.add("machine", document["machine"])
    facts.add("bytes, stripped", byte_count(document["bytes_stripped"]))
    facts.add("exports", ", ".join(document["exported"]))
    facts.add("needs", ", ".join(document["needed"]))
    facts.add("glibc", document["glibc"])
    facts.add("kernels", str(len(document["kernels"])))
    if "sizes" in document:
        return [facts, *size.tables(document["machine"], document["sizes"])]
    kernels = Table(["kernel"])
    for name in document["kernels"]:
        kernels.add(name)
    return [facts, kernels]


def _show_model(document: Mapping[str, Any], verbose: bool) -> list[str | Table]:
    text = f"model {document['name']}: {document['nodes']} nodes, {document['macs']:,} multiply-accumulates, "
    text += f"{document['data_bytes']:,} bytes of weights"
    if document["abi"]:
        text += f"\nplanned for {document['abi']}, arena {document['arena_size']:,} bytes"
    parts: list[str | Table] = [text, _show_tensors(document), _show_counts(document["operators"], ())]
    if document["kernels"]:
        kernels = Table(["kernel"])
        for name in document["kernels"]:
            kernels.add(name)
        parts.append(kernels)
    if document["quantised"]:
        parts.append(_show_quantised(document["quantised"]))
    if verbose:
        body = Table(["node", "operator", "output", "packed", "kernel"])
        for node in document["body"]:
            body.add(
                node["name"], node["operator"], ", ".join(node["outputs"]), node["packing"], ", ".join(node["kernels"])
            )
        parts.append(body)
    return parts


def _show_quantised(rounded: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(["rounded by", "type", "scale", "zero point"], right=frozenset({"scale", "zero point"}))
    for item in rounded:
        scales, zeros = item["scales"], item["zero_points"]
        scale = f"{scales[0]:.6g}" if len(scales) == 1 else f"{len(scales)} scales"
        table.add(item["name"], item["dtype"], scale, zeros[0] if len(zeros) == 1 else "")
    return table


def _show_onnx(document: Mapping[str, Any], verbose: bool) -> list[str | Table]:
    opsets = ", ".join(f"{domain} {version}" for domain, version in document["opsets"].items())
    text = f"ONNX model {document['name']}: {document['nodes']} nodes, opset {opsets}"
    parts: list[str | Table] = [text + (f", made by {document['producer']}" if document["producer"] else "")]
    return [*parts, _show_tensors(document), _show_counts(document["operators"], document["unsupported"])]


def _show_deployment(document: Mapping[str, Any], verbose: bool) -> list[str | Table]:
    table = Table(["model", "platform", "runtime", "data_type", "file"])
    for model in document["models"]:
        table.add(*(model[key] for key in ("name", "platform", "runtime", "data_type", "file")))
    return [f"library {document['library']} for {', '.join(document['target_abis'])}", table]


def _show_tensors(document: Mapping[str, Any]) -> Table:
    table = Table(["", "name", "type", "shape", "format"])
    for kind in ("inputs", "outputs"):
        for tensor in document[kind]:
            shape = "x".join(map(str, tensor["shape"]))
            table.add(kind[:-1], tensor["name"], tensor["dtype"], shape, tensor.get("format", ""))
    return table


def _show_counts(counts: Mapping[str, int], unsupported: Sequence[str]) -> Table:
    table = Table(["operator", "nodes", ""], right=frozenset({"nodes"}))
    for name, count in counts.items():
        table.add(name, count, "cannot be imported" if name in unsupported else "")
    return table


def _show_list(document: Mapping[str, Any]) -> Table:
    if document["kind"] == "passes":
        table = Table(["pass", "what it does"])
        for item in document["items"]:
            table.add(item["name"], item["summary"])
        return table
    table = Table(["operator", "attributes", "kernels"])
    for item in document["items"]:
        table.add(item["name"], " ".join(item["attributes"]), " ".join(item["kernels"]) or "none")
    return table
