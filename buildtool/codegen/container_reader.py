"""From the container's files back to a graph. The files are not trusted: every number is checked before its use.

All mistakes are ModelFileErrors that name the file and what in it is wrong.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NoReturn, TypeVar

import numpy as np
from google.protobuf.message import DecodeError

from buildtool.codegen import dim_programs
from buildtool.codegen.container_writer import FORMAT_VERSION
from buildtool.errors import GraphError, ModelFileError, Where
from buildtool.ir.attributes import AttrKind
from buildtool.ir.dims import UNBOUNDED, Dim, DimExpr, Symbol, static
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType, dtype_from_code
from buildtool.ir.verify import verify
from buildtool.plan import scaled
from buildtool.plan.packing import INPUT, Packing, by_code
from buildtool.plan.plan import ALIGNMENT, Placement, Plan
from buildtool.schemas import container_pb2 as pb

MAX_RANK = 8
MAX_REGION_DEPTH = 16
_T = TypeVar("_T")


class _Malformed(Exception):  # noqa: N818 - never leaves this file
    """A rule of the format is broken; `decode` adds the file."""


def parse(model: bytes, file: str = "") -> pb.Model:
    """The message of `<name>.pb`, of a version that this program reads."""
    message = pb.Model()
    try:
        message.ParseFromString(model)
    except (DecodeError, UnicodeDecodeError, RecursionError) as problem:
        _refuse("this is not a Lathe model: it is damaged, truncated or of another kind", file, problem)
    if message.format_version > FORMAT_VERSION:
        what = f"this model has format {message.format_version}; this version of Lathe reads up to {FORMAT_VERSION}"
        raise ModelFileError(what, where=Where(file), remedy="update Lathe, or convert the model again")
    if message.format_version == 0 or not message.HasField("graph"):
        _refuse("this is not a Lathe model: it has no version or no graph", file)
    return message


def decode(
    message: pb.Model, data: bytes, operators: Mapping[str, type[Operator]], file: str = ""
) -> tuple[Graph, Plan | None]:
    """The graph and the plan of a parsed model. Without data, those inside of it count."""
    data = data or message.weights
    if message.data_size != len(data):
        what = f"the data file has {len(data)} bytes, the model was written with {message.data_size}"
        _refuse(what, file, remedy="use the .data file that was written with this .pb")
    if hashlib.sha256(data).digest() != message.data_sha256:
        _refuse("the data file is not the one that was written with this model (its SHA-256 differs)", file)
    try:
        reader = _Reader(message, data, operators)
        graph = reader.graph()
        verify(graph)
        return graph, reader.plan(graph)
    except (_Malformed, ValueError, RecursionError, OverflowError) as problem:
        _refuse(f"the model is malformed: {problem}", file, problem)
    except GraphError as problem:
        _refuse("the model is malformed: " + "; ".join(item.what for item in problem.problems), file, problem)


def _refuse(what: str, file: str, cause: BaseException | None = None, remedy: str = "") -> NoReturn:
    remedy = remedy or "convert the source model again"
    raise ModelFileError(what, where=Where(file), rule="docs/reference/format.md", remedy=remedy) from cause


class _Reader:
    def __init__(self, message: pb.Model, data: bytes, operators: Mapping[str, type[Operator]]) -> None:
        self.message = message
        self.data = data
        self.operators = operators
        self.symbols: list[Symbol] = []
        self.exprs: list[Dim] = []
        self.values: list[Value] = []
        self._defined: set[int] = set()  # by index, wherever they are visible
        self._packings: dict[int, Packing] = {}  # of packed constants, by index
        self._by_name: dict[str, Value] = {}  # what is stored, and what was unpacked
        self._packing_of: dict[int, str] = {}  # by id of the node
        self._node_number = 0

    def graph(self) -> Graph:
        source = self.message.graph
        for item in source.symbols:
            if item.high > UNBOUNDED:
                raise _Malformed(f"the bound of symbol '{item.name}' is too large")
            self.symbols.append(Symbol(item.name, item.low, item.high))
        if len({symbol.name for symbol in self.symbols}) != len(self.symbols):
            raise _Malformed("two symbols have the same name")
        self.exprs = [dim_programs.decode(item.code, self.symbols) for item in source.exprs]
        self.values = [self._value(item) for item in source.values]
        for index, stored in enumerate(source.values):
            if stored.constant.packing:
                packing = by_code(stored.constant.packing)
                if packing is None or not self.message.HasField("plan"):
                    raise _Malformed(f"constant '{stored.name}' is packed in an unknown way, or for no plan")
                self._packings[index] = packing
        self._by_name = {value.name: value for value in self.values}
        if len(self._by_name) != len(self.values):
            raise _Malformed("two values have the same name")
        graph = Graph(name=self.message.name, symbols={symbol.name: symbol for symbol in self.symbols})
        constants = {index for index, value in enumerate(self.values) if value.is_constant}
        self._defined = set(constants)
        self._region(source.body, graph, constants, 0)
        undefined = set(range(len(self.values))) - self._defined
        if undefined:
            raise _Malformed(f"no node defines value '{self.values[min(undefined)].name}'")
        numbers = (re.search(r"\.(\d{1,9})$", name) for name in self._by_name)
        graph._counter = max((int(match.group(1)) for match in numbers if match), default=0)
        return graph

    def plan(self, graph: Graph) -> Plan | None:
        if not self.message.HasField("plan"):
            return None
        source = self.message.plan
        if len(source.nodes) != sum(1 for _ in graph.walk()):
            raise _Malformed("the plan has another number of nodes than the graph")
        placements = []
        for item in source.arena:
            if item.offset + item.size > source.arena_size:
                raise _Malformed("a placement of the plan ends outside the arena")
            placements.append(Placement(self._at(self.values, item.value, "value").name, item.offset, item.size))
        if len({placement.value for placement in placements}) != len(placements):
            raise _Malformed("the plan places a value twice")
        kernels = tuple(tuple(node.kernels) for node in source.nodes)
        if not all(kernels):
            raise _Malformed("the plan names no kernel for a node")
        packings = tuple(self._packing_of.get(id(node), "") for node in graph.walk())
        return Plan(source.abi, kernels, tuple(placements), source.arena_size, packings if any(packings) else ())

    def _at(self, items: Sequence[_T], index: int, what: str) -> _T:
        if not 0 <= index < len(items):
            raise _Malformed(f"there is no {what} {index}; there are {len(items)}")
        return items[index]

    def _dim(self, item: pb.Dim) -> Dim:
        if item.WhichOneof("kind") == "expr":
            return self._at(self.exprs, item.expr, "expression")
        if item.WhichOneof("kind") is None or item.size > UNBOUNDED:
            raise _Malformed("a dimension is absent or too large")
        return int(item.size)

    def _value(self, item: pb.Value) -> Value:
        if not item.name:
            raise _Malformed("a value has no name")
        shape = tuple(self._dim(dim) for dim in item.dims)
        if len(shape) > MAX_RANK:
            raise _Malformed(f"value '{item.name}' has {len(shape)} dimensions; at most {MAX_RANK} are allowed")
        quant = None
        if item.HasField("quant"):
            source = item.quant
            axis = None if source.axis == -1 else source.axis
            if axis is not None and not 0 <= axis < len(shape):
                raise _Malformed(f"value '{item.name}' is quantised along axis {axis} of {len(shape)}")
            quant = QuantType(tuple(source.scales), tuple(source.zero_points), axis, source.bits)
        type_ = TensorType(dtype_from_code(item.dtype), shape, quant)
        constant = None
        if item.HasField("constant"):
            constant = self._constant(item.constant, type_, item.name)
        return Value(item.name, type_, tuple(item.source_names), constant)

    def _constant(self, item: pb.Constant, type_: TensorType, name: str) -> Array:
        if any(isinstance(dim, DimExpr) for dim in type_.shape):
            raise _Malformed(f"constant '{name}' has a symbolic shape")
        storage = dtype_from_code(item.storage)
        if item.HasField("scaled"):
            return self._scaled(item, type_, name)
        if storage is not type_.dtype and (storage not in (DType.F16, DType.BF16) or type_.dtype is not DType.F32):
            raise _Malformed(f"constant '{name}' of type {type_.dtype.value} is stored as {storage.value}")
        shape = static(type_.shape)
        contents = self._contents(item.offset, item.size, prod(shape) * storage.itemsize, name)
        array = _from_bytes(contents, storage, type_.dtype).reshape(shape)
        array.setflags(write=False)
        return array

    def _contents(self, offset: int, size: int, needed: int, name: str) -> bytes:
        if size != needed:
            raise _Malformed(f"constant '{name}' has {size} bytes, its shape needs {needed}")
        if offset % ALIGNMENT or offset + size > len(self.data):
            raise _Malformed(f"constant '{name}' is not aligned to {ALIGNMENT} or ends outside the data file")
        return self.data[offset : offset + size]

    def _scaled(self, item: pb.Constant, type_: TensorType, name: str) -> Array:
        """A constant of whole numbers with scales."""
        source, shape = item.scaled, static(type_.shape)
        form = next((form for form in scaled.FORMS.values() if form.storage.code == item.storage), None)
        if form is None or type_.dtype is not DType.F32 or source.storage not in (DType.F32.code, DType.F16.code):
            raise _Malformed(f"constant '{name}' has an unknown kind of scaled storage")
        count, slice_ = prod(shape), source.depth * source.width
        if not 0 < slice_ <= count or count % slice_ or not 0 < source.block <= source.depth:
            raise _Malformed(f"the scales of constant '{name}' do not match its shape")
        view = scaled.View(count // slice_, source.depth, source.width, source.block)
        numbers = self._contents(item.offset, item.size, scaled.number_bytes(form.storage, count), name)
        kind = dtype_from_code(source.storage)
        size = prod(view.scales) * kind.itemsize
        scales = _from_bytes(self._contents(source.offset, size, size, name), kind, kind)
        array = scaled.expanded(numbers, scales, scaled.Weights(view, form)).reshape(shape)
        array.setflags(write=False)
        return array

    def _region(self, source: pb.Region, region: Region, visible: set[int], depth: int) -> None:
        """Fill `region`; `visible`: the values that it may read. Grows by what it defines, for its own nodes only."""
        if depth > MAX_REGION_DEPTH:
            raise _Malformed(f"regions are nested more than {MAX_REGION_DEPTH} deep")
        visible = set(visible)
        region.inputs = [self._define(index, visible) for index in source.inputs]
        for item in source.nodes:
            region.nodes.append(self._node(item, visible, depth))
        region.outputs = [self._use(index, visible, "the outputs of the graph") for index in source.outputs]

    def _define(self, index: int, visible: set[int]) -> Value:
        value = self._at(self.values, index, "value")
        if index in self._defined:
            raise _Malformed(f"value '{value.name}' is made twice")
        self._defined.add(index)
        visible.add(index)
        return value

    def _use(self, index: int, visible: set[int], user: str, packed: bool = False) -> Value:
        value = self._at(self.values, index, "value")
        if index not in visible:
            raise _Malformed(f"{user} read value '{value.name}' before it is made")
        if index in self._packings and not packed:
            raise _Malformed(f"{user} read constant '{value.name}', which is packed for another kernel")
        return value

    def _node(self, source: pb.Node, visible: set[int], depth: int) -> Node:
        self._node_number += 1
        place = f"node {self._node_number} ('{source.name}', {source.op})"
        operator = self.operators.get(source.op)
        if operator is None:
            raise _Malformed(f"{place}: there is no operator '{source.op}'; is a folder of `op_paths` missing?")
        if len(source.regions) != operator.regions:
            raise _Malformed(f"{place} has {len(source.regions)} regions; the operator has {operator.regions}")
        inputs = [self._use(item, visible, place, number == INPUT) for number, item in enumerate(source.inputs)]
        op = self._operator(operator, source.attrs, place)
        regions = []
        for item in source.regions:
            regions.append(Region())
            self._region(item, regions[-1], visible, depth + 1)
        outputs = [self._define(index, visible) for index in source.outputs]
        node = Node(op, inputs, outputs, source.name, regions)
        if len(inputs) > INPUT and source.inputs[INPUT] in self._packings:
            self._unpack(node, self._packings[source.inputs[INPUT]], place)
        return node

    def _unpack(self, node: Node, packing: Packing, place: str) -> None:
        """Gives the node the constant as the graph has it. All nodes that read it get the same value."""
        stored = node.inputs[INPUT]
        assert stored.constant is not None
        self._packing_of[id(node)] = packing.name
        try:
            array = packing.unpack(stored.constant, node)
        except (ValueError, TypeError, LookupError, ArithmeticError) as problem:
            raise _Malformed(f"{place}: constant '{stored.name}' cannot be unpacked: {problem}") from problem
        name = stored.name.rstrip("+").removesuffix(f".{packing.name}")
        type_ = TensorType(stored.type.dtype, tuple(array.shape), stored.type.quant)
        array.setflags(write=False)
        value = self._by_name.setdefault(name, Value(name, type_, stored.source_names, array))
        if value.type != type_ or value.constant is None:
            raise _Malformed(f"{place}: constant '{stored.name}' is not '{name}', packed")
        node.inputs[INPUT] = value

    def _operator(self, operator: type[Operator], attrs: Sequence[pb.Attr], place: str) -> Operator:
        kinds = operator.attribute_kinds()
        arguments: dict[str, Any] = {}
        for attr in attrs:
            if attr.name not in kinds or attr.name in arguments:
                raise _Malformed(f"{place} has the unknown or repeated attribute '{attr.name}'")
            arguments[attr.name] = self._attribute(attr, kinds[attr.name], place)
        if missing := sorted(kinds.keys() - arguments.keys()):
            raise _Malformed(f"{place} lacks the attribute '{missing[0]}'")
        try:
            return operator(**arguments)
        except (ValueError, TypeError, ArithmeticError, LookupError) as problem:
            raise _Malformed(f"{place}: {problem}") from problem

    def _attribute(self, attr: pb.Attr, kind: AttrKind, place: str) -> Any:
        field = attr.WhichOneof("kind")
        if field != _FIELDS[kind]:
            raise _Malformed(f"{place}: attribute '{attr.name}' is not {kind.value}")
        match kind:
            case AttrKind.BOOL:
                if attr.i not in (0, 1):
                    raise _Malformed(f"{place}: attribute '{attr.name}' is not {kind.value}")
                return bool(attr.i)
            case AttrKind.INT:
                return attr.i
            case AttrKind.FLOAT:
                return attr.f
            case AttrKind.STRING:
                return attr.s
            case AttrKind.DTYPE:
                return dtype_from_code(attr.dtype)
            case AttrKind.DIMS:
                return tuple(self._dim(dim) for dim in attr.dims.v)
            case _:
                return tuple(getattr(attr, field).v)


_FIELDS = {
    AttrKind.BOOL: "i",
    AttrKind.INT: "i",
    AttrKind.FLOAT: "f",
    AttrKind.STRING: "s",
    AttrKind.DTYPE: "dtype",
    AttrKind.INTS: "ints",
    AttrKind.FLOATS: "floats",
    AttrKind.STRINGS: "strings",
    AttrKind.DIMS: "dims",
}


def _from_bytes(contents: bytes, storage: DType, dtype: DType) -> Array:
    """The values as NumPy carries them in this program: f16 storage and bf16 become float32."""
    if storage is DType.BF16:
        widened: Array = (np.frombuffer(contents, "<u2").astype(np.uint32) << 16).view(np.float32)
        return widened
    if storage is DType.BOOL:
        flags = np.frombuffer(contents, np.uint8)
        if flags.size and int(flags.max()) > 1:
            raise _Malformed("a constant of type bool contains other values than 0 and 1")
        return flags.astype(np.bool_)
    array: Array = np.frombuffer(contents, storage.numpy.newbyteorder("<")).astype(dtype.numpy)
    return array
