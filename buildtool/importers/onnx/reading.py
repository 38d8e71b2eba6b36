"""Reads an ONNX file into a `SourceModel`. Every structural promise of the format is checked here, once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from buildtool.errors import LatheError, ModelFileError, UnsupportedError, Where
from buildtool.importers.files import read_bytes
from buildtool.importers.model import AttributeValue, SourceBody, SourceDim, SourceModel, SourceNode, SourceTensor
from buildtool.importers.onnx.layout import channels_last
from buildtool.importers.onnx.tensors import HALVES, NIBBLES, array_of, dtype_of_code, text_of
from buildtool.importers.onnx.versions import adjust
from buildtool.importers.order import check_names, in_execution_order
from buildtool.ir.operator import Array

_DAMAGED = "the file is damaged or was not made by an ONNX exporter: export or download it again"


def read(file: Path, name: str) -> SourceModel:
    """The checked content of a file. LatheError where it is not a model."""
    where = Where(file=str(file), model=name)
    model = adjust(_parse(file, where), where)
    if not model.HasField("graph") or not model.graph.node:
        raise ModelFileError("the model has no nodes", where=where, remedy=_DAMAGED)
    return _model_of(model, file.parent, where)


def _parse(file: Path, where: Where) -> ModelProto:
    data = read_bytes(file, where, "save the model with its weights in a file of their own (external data)", _DAMAGED)
    try:
        model = onnx.ModelProto.FromString(data)
    except (DecodeError, RecursionError, ValueError) as problem:
        raise ModelFileError("this is not an ONNX model", where=where, remedy=_DAMAGED) from problem
    if model.ir_version < 1:
        raise ModelFileError("this is not an ONNX model: it has no IR version", where=where, remedy=_DAMAGED)
    return model


def _model_of(model: ModelProto, folder: Path, where: Where) -> SourceModel:
    graph = model.graph
    if graph.sparse_initializer:
        raise ModelFileError("the model has sparse weights", where=where, remedy="export it with dense weights")
    constants = _constants(graph, folder, where)
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    nodes = tuple(_node_of(node, index, folder, where) for index, node in enumerate(graph.node))
    _check_narrow(graph, where)
    inputs = _tensors(graph.input, where)
    outputs = _tensors(graph.output, where)
    if not outputs:
        raise ModelFileError("the model has no outputs", where=where, remedy=_DAMAGED)
    inputs = {name: tensor for name, tensor in inputs.items() if name not in constants}
    check_names(nodes, {**inputs, **constants}, outputs, where, _DAMAGED)
    ordered = in_execution_order(nodes, where)
    declared = _tensors(graph.value_info, where, lenient=True)
    return SourceModel(
        where, opset, "NCHW", inputs, outputs, {**declared, **outputs}, constants, ordered, channels_last(ordered)
    )


def _constants(graph: GraphProto, folder: Path, where: Where) -> dict[str, Array]:
    constants: dict[str, Array] = {}
    for tensor in graph.initializer:
        name = text_of(tensor.name)
        if not name or name in constants:
            raise ModelFileError(
                f"two initial values have the name '{name}'" if name else "an initial value has no name",
                where=where,
                rule="every tensor is defined once",
            )
        constants[name] = array_of(tensor, folder, where)
    return constants


def _check_narrow(graph: GraphProto, where: Where) -> None:
    """UnsupportedError where numbers are quantised to 4 bits, which the graph would take for 8 (see `NIBBLES`)."""
    narrow = {tensor.name for tensor in graph.initializer if tensor.data_type in NIBBLES}
    for node in graph.node:
        if node.op_type == "Constant" and any(item.t.data_type in NIBBLES for item in node.attribute):
            narrow.update(node.output)
        if node.op_type == "QuantizeLinear" and narrow.intersection(node.input[2:]):
            raise UnsupportedError(
                "numbers are quantised to 4 bits when the model runs",
                where=Where(where.file, model=where.model, node=text_of(node.name)),
                rule="weights may have 4 bits; what is computed has 8 or 16",
                remedy="quantise the activations to 8 bits",
            )


def _tensors(infos: Iterable[ValueInfoProto], where: Where, lenient: bool = False) -> dict[str, SourceTensor]:
    """Declared tensors by name. `lenient`: what is only a hint (inner tensors) is left out where it makes no sense."""
    tensors: dict[str, SourceTensor] = {}
    for info in infos:
        try:
            tensor = _tensor(info, where)
        except LatheError:
            if lenient:
                continue
            raise
        if tensor.name in tensors and not lenient:
            raise ModelFileError(f"'{tensor.name}' is declared twice", where=where, rule="every tensor has one name")
        tensors[tensor.name] = tensor
    return tensors


def _tensor(info: ValueInfoProto, where: Where) -> SourceTensor:
    name = text_of(info.name)
    where = Where(where.file, model=where.model, value=name)
    if not name:
        raise ModelFileError("an input or output has no name", where=where, remedy=_DAMAGED)
    kind = info.type.WhichOneof("value")
    if kind is None:
        return SourceTensor(name, None, None)
    if kind != "tensor_type":
        raise UnsupportedError(
            f"'{name}' is not a tensor but a {kind.removesuffix('_type').replace('_', ' ')}",
            where=where,
            rule="inputs and outputs are tensors",
            remedy="export the model with tensors as its inputs and outputs, or name inner tensors instead",
        )
    tensor = info.type.tensor_type
    dtype = dtype_of_code(tensor.elem_type, where) if tensor.elem_type else None
    if not tensor.HasField("shape"):
        return SourceTensor(name, dtype, None, HALVES.get(tensor.elem_type))
    dims: list[SourceDim] = []
    for dim in tensor.shape.dim:
        if dim.WhichOneof("value") == "dim_value":
            if not -1 <= dim.dim_value < 2**31:
                raise ModelFileError(f"the dimension {dim.dim_value} is not possible", where=where, remedy=_DAMAGED)
            # 0 and -1 are how old exporters spelled an unknown size
            dims.append(dim.dim_value if dim.dim_value > 0 else None)
        else:
            dims.append(text_of(dim.dim_param) or None)
    if len(dims) > 16:
        raise ModelFileError(f"{len(dims)} dimensions are more than 16", where=where, remedy=_DAMAGED)
    return SourceTensor(name, dtype, tuple(dims), HALVES.get(tensor.elem_type))


def _node_of(node: NodeProto, index: int, folder: Path, where: Where, prefix: str = "") -> SourceNode:
    inputs, outputs = (tuple(text_of(name) for name in names) for names in (node.input, node.output))
    name = prefix + (text_of(node.name) or next((output for output in outputs if output), f"number {index}"))
    where = Where(where.file, model=where.model, node=name)
    if not node.op_type:
        raise ModelFileError("the node has no operator", where=where, remedy=_DAMAGED)
    attributes: dict[str, AttributeValue] = {}
    unreadable: dict[str, str] = {}
    bodies: dict[str, Callable[[], SourceBody]] = {}
    captured: set[str] = set()
    for attribute in node.attribute:
        key = text_of(attribute.name)
        if key in attributes or key in unreadable or key in bodies:
            raise ModelFileError(f"the attribute '{key}' appears twice", where=where, remedy=_DAMAGED)
        reader = _ATTRIBUTE_READERS.get(attribute.type)
        if reader is not None:
            attributes[key] = reader(attribute)
        elif attribute.type == AttributeProto.TENSOR:
            attributes[key] = array_of(attribute.t, folder, where)
        elif attribute.type == AttributeProto.GRAPH:
            bodies[key] = functools.partial(_body_of, attribute.g, name, folder, where)
            captured.update(_captured(attribute.g))
        else:
            unreadable[key] = _kind_name(attribute.type)
    domain = text_of(node.domain)
    domain = "" if domain == "ai.onnx" else domain
    op = text_of(node.op_type)
    return SourceNode(op, domain, name, inputs, outputs, attributes, unreadable, bodies, tuple(sorted(captured)))


def _captured(graph: GraphProto) -> set[str]:
    """What the nodes of an inner graph, and the graphs in them, read from around it."""
    made = {text_of(value.name) for value in graph.input} | {text_of(tensor.name) for tensor in graph.initializer}
    made.update(text_of(name) for node in graph.node for name in node.output)
    read = {text_of(value.name) for value in graph.output}
    for node in graph.node:
        read.update(text_of(name) for name in node.input)
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                read |= _captured(inner)
    return read - made - {""}


def _body_of(graph: GraphProto, owner: str, folder: Path, where: Where) -> SourceBody:
    """An inner graph. Its nodes are named under the node it belongs to: two bodies may use the same names."""
    if graph.sparse_initializer:
        raise ModelFileError("the inner graph has sparse weights", where=where, remedy="export it with dense weights")
    constants = _constants(graph, folder, where)
    nodes = tuple(_node_of(node, index, folder, where, f"{owner}/") for index, node in enumerate(graph.node))
    inputs = tuple(text_of(value.name) for value in graph.input)
    outputs = tuple(text_of(value.name) for value in graph.output)
    check_names(nodes, dict.fromkeys((*inputs, *constants, *_captured(graph))), dict.fromkeys(outputs), where, _DAMAGED)
    declared = _tensors(graph.input, where, lenient=True)
    return SourceBody(inputs, outputs, constants, in_execution_order(nodes, where), declared)


def _kind_name(kind: int) -> str:
    known = kind in AttributeProto.AttributeType.values()
    return AttributeProto.AttributeType.Name(kind) if known else str(kind)


_ATTRIBUTE_READERS: Mapping[int, Callable[[Any], AttributeValue]] = {
    AttributeProto.INT: lambda attribute: int(attribute.i),
    AttributeProto.FLOAT: lambda attribute: float(attribute.f),
    AttributeProto.STRING: lambda attribute: text_of(attribute.s),
    AttributeProto.INTS: lambda attribute: tuple(attribute.ints),
    AttributeProto.FLOATS: lambda attribute: tuple(attribute.floats),
    AttributeProto.STRINGS: lambda attribute: tuple(text_of(item) for item in attribute.strings),
}
