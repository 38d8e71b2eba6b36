"""From a graph to the container's message and data."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from buildtool.codegen import dim_programs
from buildtool.ir.attributes import AttrKind
from buildtool.ir.dims import Dim, Symbol
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.plan import scaled
from buildtool.plan.packing import INPUT, PACKINGS
from buildtool.plan.plan import ALIGNMENT, Plan
from buildtool.schemas import container_pb2 as pb

FORMAT_VERSION = 3
_WITHOUT_SCALED = 2  # what older readers know
_SLICE = 1 << 20  # elements
_LARGEST = {DType.F16: 65504.0, DType.BF16: 255 * 2.0**120}


@dataclass(frozen=True)
class Stored:
    """How f32 constants are stored where that is narrower than they are."""

    half: DType | None = None  # f16 or bf16
    large_weights: str = ""  # a word of scaled.FORMS; the others are as `half` says


def encode(graph: Graph, name: str, stored: Stored, plan: Plan | None) -> tuple[pb.Model, bytes]:
    """The message without formats, and the data file."""
    data = io.BytesIO()  # gives its bytes away without a copy
    return encode_to(data, graph, name, stored, plan), data.getvalue()


def encode_to(file: IO[bytes], graph: Graph, name: str, stored: Stored, plan: Plan | None) -> pb.Model:
    """The same, with the data written to a file, so that weights larger than memory can be converted."""
    writer = _Writer(graph, stored, plan, file)
    writer.run()
    message = pb.Model(
        format_version=FORMAT_VERSION if writer.has_scaled else _WITHOUT_SCALED,
        name=name,
        graph=writer.message,
        data_size=writer.data.size,
        data_sha256=writer.data.digest.digest(),
    )
    if plan is not None:
        message.plan.CopyFrom(writer.plan(plan))
    return message


def stored_bytes(array: Array, dtype: DType, half: DType | None = None) -> tuple[bytes, DType]:
    """A constant as it lies in the data file, and the element type that it has there.

    `half` (f16 or bf16) is how f32 is stored, but for constants that hold finite values beyond the range of that type,
    and for those of at most one line of 64 bytes, where nothing would be saved and small numbers (an epsilon) would be
    lost.
    """
    stored, storage = _stored(array, dtype, half)
    return stored.tobytes(), storage


def _stored(array: Array, dtype: DType, half: DType | None) -> tuple[Array, DType]:
    """The same as an array in the order of its bytes, which is the constant itself where nothing changes."""
    if dtype is DType.BF16:
        return _to_bf16(array), dtype
    if dtype is DType.F32 and half is not None and array.nbytes > ALIGNMENT and _largest(array) <= _LARGEST[half]:
        return _to_bf16(array) if half is DType.BF16 else np.ascontiguousarray(array, dtype="<f2"), half
    return np.ascontiguousarray(array, dtype=dtype.numpy.newbyteorder("<")), dtype


def _largest(array: Array) -> float:
    """The largest finite magnitude; it is found in slices, since a copy of a large matrix takes as much memory."""
    step = max(1, _SLICE * len(array) // array.size)
    parts = (array[start : start + step] for start in range(0, len(array), step))
    return max(float(np.max(np.abs(part), where=np.isfinite(part), initial=0)) for part in parts)


def _to_bf16(array: Array) -> Array:
    """Rounded to nearest, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4").astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(np.isnan(array), quiet, rounded).astype("<u2")


class _Data:
    """The data file while it grows."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def append(self, contents: bytes | memoryview) -> int:
        """Where the contents lie now."""
        fill = bytes(-self.size % ALIGNMENT)
        offset = self.size + len(fill)
        parts: tuple[bytes | memoryview, ...] = (fill, contents)
        for part in parts:
            self._file.write(part)
            self.digest.update(part)
        self.size = offset + len(contents)
        return offset


class _Writer:
    """State of one run: the tables that nodes and values refer to by index."""

    def __init__(self, graph: Graph, stored: Stored, plan: Plan | None, file: IO[bytes]) -> None:
        self.graph = graph
        self.stored = stored
        self.has_scaled = False
        self._scaled = scaled.chosen(graph, stored.large_weights)
        packings = plan.packings if plan is not None and plan.packings else [""] * len(list(graph.walk()))
        self._packing = {id(node): name for node, name in zip(graph.walk(), packings, strict=True) if name}
        self._packed: dict[int, int] = {}  # id of a node -> index of its packed constant
        self.message = pb.Graph()
        self.data = _Data(file)
        self._values: dict[Value, int] = {}
        self._symbols: dict[Symbol, int] = {}
        self._exprs: dict[tuple[int, ...], int] = {}
        self._blobs: dict[bytes, int] = {}  # digest of bytes -> offset

    def run(self) -> None:
        for symbol in self.graph.symbols.values():
            self._symbols.setdefault(symbol, len(self._symbols))
        plain = self._read_plain()
        for value in self.graph.values():
            if value in plain:
                self._values[value] = len(self.message.values)
                self.message.values.append(self._value(value, self._scaled.get(value)))
        self._pack_constants()
        self._region(self.graph, self.message.body)
        self.message.symbols.extend(
            pb.Symbol(name=symbol.name, low=symbol.low, high=symbol.high) for symbol in self._symbols
        )
        self.message.exprs.extend(pb.Expr(code=code) for code in self._exprs)

    def _read_plain(self) -> set[Value]:
        """All values but those constants that every node reads packed."""
        packed = {node.inputs[INPUT] for node in self.graph.walk() if id(node) in self._packing}
        plain = set(self.graph.values()) - packed
        plain.update(value for region in self.graph.bodies() for value in region.outputs)
        for node in self.graph.walk():
            skipped = INPUT if id(node) in self._packing else -1
            plain.update(value for index, value in enumerate(node.inputs) if index != skipped)
        return plain

    def _pack_constants(self) -> None:
        """Appends the packed constants to the table. Nodes that read the same one in the same way share it."""
        known: dict[tuple[str, bytes, tuple[int, ...]], int] = {}
        names = {value.name for value in self.graph.values()}
        for node in self.graph.walk():
            if id(node) not in self._packing:
                continue
            packing, value = PACKINGS[self._packing[id(node)]], node.inputs[INPUT]
            assert value.constant is not None
            array = np.ascontiguousarray(packing.pack(value.constant, node))
            name = f"{value.name}.{packing.name}"
            key = (name, hashlib.sha256(array.data).digest(), array.shape)
            if key not in known:
                known[key] = len(self.message.values)
                while name in names:  # the same constant in other groups
                    name += "+"
                names.add(name)
                type_ = TensorType(value.type.dtype, array.shape, value.type.quant)  # of the plain axes
                packed = Value(name, type_, value.source_names, array)
                weights = self._scaled.get(value)
                if weights is not None:
                    weights = scaled.of_packed(weights, packing.name, array.shape)
                elif self.stored.half is DType.F16 and scaled.beyond_halves(packed, packing.name):
                    weights = scaled.in_16_bits(array.shape)
                message = self._value(packed, weights)
                message.constant.packing = packing.code
                self.message.values.append(message)
            self._packed[id(node)] = known[key]

    def plan(self, plan: Plan) -> pb.Plan:
        by_name = {value.name: index for value, index in self._values.items()}
        return pb.Plan(
            abi=plan.abi,
            nodes=[pb.NodePlan(kernels=names) for names in plan.kernels],
            arena=[pb.Placement(value=by_name[p.value], offset=p.offset, size=p.size) for p in plan.arena],
            arena_size=plan.arena_size,
        )

    def _dim(self, dim: Dim) -> pb.Dim:
        if isinstance(dim, int) and dim >= 0:
            return pb.Dim(size=dim)
        code = tuple(dim_programs.encode(dim, self._symbols))
        return pb.Dim(expr=self._exprs.setdefault(code, len(self._exprs)))

    def _dims(self, dims: Iterable[Dim]) -> list[pb.Dim]:
        return [self._dim(dim) for dim in dims]

    def _value(self, value: Value, weights: scaled.Weights | None) -> pb.Value:
        type_: TensorType = value.type
        message = pb.Value(
            name=value.name, source_names=value.source_names, dtype=type_.dtype.code, dims=self._dims(type_.shape)
        )
        if type_.quant is not None:
            quant = type_.quant
            axis = -1 if quant.axis is None else quant.axis
            message.quant.CopyFrom(
                pb.Quant(scales=quant.scales, zero_points=quant.zero_points, axis=axis, bits=quant.bits)
            )
        if value.constant is not None:
            stored = (
                self._constant(value.constant, type_.dtype)
                if weights is None
                else self._weights(value.constant, weights)
            )
            message.constant.CopyFrom(stored)
        return message

    def _constant(self, array: Array, dtype: DType) -> pb.Constant:
        stored, storage = _stored(array, dtype, self.stored.half)
        contents = stored.reshape(-1).view(np.uint8).data
        return pb.Constant(offset=self._blob(contents), size=len(contents), storage=storage.code)

    def _weights(self, array: Array, weights: scaled.Weights) -> pb.Constant:
        self.has_scaled = True
        reduced, view = scaled.reduced(array, weights), weights.view
        contents, kind = stored_bytes(reduced.scales, DType.F16 if reduced.scales.dtype == np.float16 else DType.F32)
        message = pb.Constant(
            offset=self._blob(reduced.numbers), size=len(reduced.numbers), storage=weights.form.storage.code
        )
        message.scaled.CopyFrom(
            pb.Scaled(
                offset=self._blob(contents), storage=kind.code, depth=view.depth, width=view.width, block=view.block
            )
        )
        return message

    def _blob(self, contents: bytes | memoryview) -> int:
        """Where the bytes lie in the data file. Equal ones lie there once."""
        digest = hashlib.sha256(contents).digest()
        if digest not in self._blobs:
            self._blobs[digest] = self.data.append(contents)
        return self._blobs[digest]

    def _region(self, region: Region, message: pb.Region) -> None:
        message.inputs.extend(self._values[value] for value in region.inputs)
        message.outputs.extend(self._values[value] for value in region.outputs)
        for node in region.nodes:
            self._node(node, message.nodes.add())

    def _node(self, node: Node, message: pb.Node) -> None:
        message.op = node.op.name
        message.name = node.name
        for index, value in enumerate(node.inputs):
            packed = index == INPUT and id(node) in self._packed
            message.inputs.append(self._packed[id(node)] if packed else self._values[value])
        message.outputs.extend(self._values[value] for value in node.outputs)
        for name, kind in node.op.attribute_kinds().items():
            self._attribute(message.attrs.add(name=name), kind, getattr(node.op, name))
        for region in node.regions:
            self._region(region, message.regions.add())

    def _attribute(self, message: pb.Attr, kind: AttrKind, value: Any) -> None:
        match kind:
            case AttrKind.BOOL | AttrKind.INT:
                message.i = int(value)
            case AttrKind.FLOAT:
                message.f = value
            case AttrKind.STRING:
                message.s = value
            case AttrKind.DTYPE:
                message.dtype = value.code
            case AttrKind.INTS:
                message.ints.CopyFrom(pb.Ints(v=value))
            case AttrKind.FLOATS:
                message.floats.CopyFrom(pb.Floats(v=value))
            case AttrKind.STRINGS:
                message.strings.CopyFrom(pb.Strings(v=value))
            case AttrKind.DIMS:
                message.dims.CopyFrom(pb.Dims(v=self._dims(value)))
