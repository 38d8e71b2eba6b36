"""Writes TFLite files from a plain description, with the builder of the flatbuffers package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

from buildtool.ir.operator import Array

_CODES = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "float64": tflite.TensorType.FLOAT64,
    "int4": tflite.TensorType.INT4,
    "int8": tflite.TensorType.INT8,
    "uint8": tflite.TensorType.UINT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "complex64": tflite.TensorType.COMPLEX64,
    "resource": tflite.TensorType.RESOURCE,
}
_CUSTOM = tflite.BuiltinOperator.CUSTOM


def _stored(content: Array, dtype: str) -> bytes:
    """Two numbers of 4 bits a byte, the first in the lower half."""
    if dtype != "int4":
        return content.astype(dtype).tobytes()
    flat = content.ravel().astype(np.uint8) & 15
    pairs = np.pad(flat, (0, flat.size % 2)).reshape(-1, 2)
    return (pairs[:, 0] | (pairs[:, 1] << 4)).tobytes()


@dataclass(frozen=True)
class Level:
    """How one axis of a sparse tensor is walked: dense, or with the places that are there."""

    size: int
    segments: Sequence[int] | None = None
    indices: Sequence[int] | None = None


@dataclass(frozen=True)
class Sparsity:
    order: Sequence[int]
    levels: Sequence[Level]
    blocks: Sequence[int] = ()


@dataclass(frozen=True)
class Quantisation:
    scales: Sequence[float]
    zero_points: Sequence[int]
    axis: int = 0
    details: int = 0  # the kind of a table with more


@dataclass(frozen=True)
class TensorSpec:
    """A tensor; `content` makes it a constant, `signature` has -1 for what may have any size."""

    name: str
    dtype: str
    shape: Sequence[int]
    content: Array | None = None
    quantisation: Quantisation | None = None
    signature: Sequence[int] | None = None
    sparsity: Sparsity | None = None
    is_state: bool = False


@dataclass(frozen=True)
class NodeSpec:
    """An operator by its built-in name, or the code of a custom one; -1 is an input that is left out."""

    op: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: str = ""  # the name of the table
    values: Mapping[str, Any] = field(default_factory=dict)
    custom: bytes = b""
    version: int = 1
    between: Sequence[int] = ()  # tensors that say how what it computes in between is stored


@dataclass(frozen=True)
class GraphSpec:
    tensors: Sequence[TensorSpec]
    nodes: Sequence[NodeSpec]
    inputs: Sequence[int]
    outputs: Sequence[int]


def write(*graphs: GraphSpec) -> bytes:
    """The bytes of a file with these graphs; the first one is the model."""
    return _Writer().model(graphs)


class _Writer:
    def __init__(self) -> None:
        self.builder = flatbuffers.Builder(1 << 16)
        self.buffers: list[bytes] = [b""]
        self.codes: list[tuple[str, int]] = []

    def table(self, kind: str, **fields: Any) -> int:
        """A table; the values of fields that are no numbers have been written before."""
        getattr(tflite, f"{kind}Start")(self.builder)
        for name, value in fields.items():
            if value is not None:
                getattr(tflite, f"{kind}Add{name}")(self.builder, value)
        return int(getattr(tflite, f"{kind}End")(self.builder))

    def offsets(self, items: Sequence[int]) -> int:
        self.builder.StartVector(4, len(items), 4)
        for item in reversed(items):
            self.builder.PrependUOffsetTRelative(item)
        return int(self.builder.EndVector())

    def numbers(self, items: Sequence[float], dtype: str) -> int:
        return int(self.builder.CreateNumpyVector(np.array(items, dtype)))

    def model(self, graphs: Sequence[GraphSpec]) -> bytes:
        written = [self.graph(graph) for graph in graphs]
        subgraphs = self.offsets(written)
        codes = self.offsets([self.code(op, version) for op, version in self.codes])
        datas = [self.numbers(np.frombuffer(data, np.uint8), "uint8") if data else None for data in self.buffers]  # type: ignore[arg-type]
        buffers = self.offsets([self.table("Buffer", Data=data) for data in datas])
        root = self.table("Model", Version=3, OperatorCodes=codes, Subgraphs=subgraphs, Buffers=buffers)
        self.builder.Finish(root, b"TFL3")
        return bytes(self.builder.Output())

    def code(self, op: str, version: int) -> int:
        number = getattr(tflite.BuiltinOperator, op, _CUSTOM)
        custom = self.builder.CreateString(op) if number == _CUSTOM else None
        old = min(number, 127)
        return self.table(
            "OperatorCode", DeprecatedBuiltinCode=old, CustomCode=custom, Version=version, BuiltinCode=number
        )

    def graph(self, graph: GraphSpec) -> int:
        tensors = self.offsets([self.tensor(tensor) for tensor in graph.tensors])
        nodes = self.offsets([self.node(node) for node in graph.nodes])
        inputs, outputs = self.numbers(graph.inputs, "int32"), self.numbers(graph.outputs, "int32")
        name = self.builder.CreateString("main")
        return self.table("SubGraph", Tensors=tensors, Inputs=inputs, Outputs=outputs, Operators=nodes, Name=name)

    def tensor(self, tensor: TensorSpec) -> int:
        buffer = 0
        if tensor.content is not None:
            self.buffers.append(_stored(tensor.content, tensor.dtype))
            buffer = len(self.buffers) - 1
        return self.table(
            "Tensor",
            Shape=self.numbers(tensor.shape, "int32"),
            Type=_CODES[tensor.dtype],
            Buffer=buffer,
            Name=self.builder.CreateString(tensor.name),
            Quantization=None if tensor.quantisation is None else self.quantisation(tensor.quantisation),
            IsVariable=tensor.is_state,
            Sparsity=None if tensor.sparsity is None else self.sparsity(tensor.sparsity),
            ShapeSignature=None if tensor.signature is None else self.numbers(tensor.signature, "int32"),
        )

    def quantisation(self, item: Quantisation) -> int:
        scales, zeros = self.numbers(item.scales, "float32"), self.numbers(item.zero_points, "int64")
        more = {"DetailsType": item.details, "Details": self.table("CustomQuantization")} if item.details else {}
        return self.table("QuantizationParameters", Scale=scales, ZeroPoint=zeros, QuantizedDimension=item.axis, **more)

    def sparsity(self, item: Sparsity) -> int:
        levels = self.offsets([self.level(level) for level in item.levels])
        order = self.numbers(item.order, "int32")
        blocks = self.numbers(item.blocks, "int32") if item.blocks else None
        return self.table("SparsityParameters", TraversalOrder=order, BlockMap=blocks, DimMetadata=levels)

    def level(self, level: Level) -> int:
        if level.segments is None or level.indices is None:
            return self.table("DimensionMetadata", Format=0, DenseSize=level.size)
        segments = self.table("Uint8Vector", Values=self.numbers(level.segments, "uint8"))
        indices = self.table("Uint16Vector", Values=self.numbers(level.indices, "uint16"))
        return self.table(
            "DimensionMetadata",
            Format=1,
            ArraySegmentsType=3,
            ArraySegments=segments,
            ArrayIndicesType=2,
            ArrayIndices=indices,
        )

    def option(self, value: Any) -> float:
        if isinstance(value, str):
            return int(self.builder.CreateString(value))
        return value if isinstance(value, int | float) else self.numbers(value, "int32")

    def node(self, node: NodeSpec) -> int:
        key = (node.op, node.version)
        if key not in self.codes:
            self.codes.append(key)
        values = {name: self.option(value) for name, value in node.values.items()}
        options = self.table(node.options, **values) if node.options else None
        kind = getattr(tflite.BuiltinOptions, node.options) if node.options else None
        custom = self.numbers(np.frombuffer(node.custom, np.uint8), "uint8") if node.custom else None  # type: ignore[arg-type]
        inputs, outputs = self.numbers(node.inputs, "int32"), self.numbers(node.outputs, "int32")
        between = self.numbers(node.between, "int32") if node.between else None
        return self.table(
            "Operator",
            Intermediates=between,
            OpcodeIndex=self.codes.index(key),
            Inputs=inputs,
            Outputs=outputs,
            BuiltinOptionsType=kind,
            BuiltinOptions=options,
            CustomOptions=custom,
        )
