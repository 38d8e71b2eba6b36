"""Reads a TFLite file into a `SourceModel`. Every structural promise of the format is checked here, once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.errors import ModelFileError, Where
from buildtool.importers.complex_parts import with_parts
from buildtool.importers.files import read_bytes
from buildtool.importers.flatbuffer import File, Table
from buildtool.importers.model import AttributeValue, SourceBody, SourceDim, SourceModel, SourceNode, SourceTensor
from buildtool.importers.order import check_names, in_execution_order
from buildtool.importers.tflite.complex_operators import COMPLEX
from buildtool.importers.tflite.rows import with_rows
from buildtool.importers.tflite.schema import (
    COMPLEX64,
    CUSTOM,
    DAMAGED,
    DTYPES,
    HALVES,
    RESOURCE,
    attributes_of,
    operators,
)
from buildtool.importers.tflite.tensors import array_of, check_shape, dtype_of_code, quantisation_of
from buildtool.importers.tflite.variables import ON_VARIABLES, RUN_ONCE, values_of, without_variables
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

_IDENTIFIER = b"TFL3"
_VERSION = 3
_PLACEHOLDER = 127  # in the old field of an operator's number, which has one byte
_NOTHING = np.zeros(0, np.uint8)
#: The options that name another graph of the file.
_BODIES = ("then_subgraph_index", "else_subgraph_index", "cond_subgraph_index", "body_subgraph_index", "subgraph")


@dataclass(frozen=True)
class _Operator:
    """An entry of the list of operators that a model uses."""

    title: str
    version: int


@dataclass(frozen=True)
class _Tensor:
    """A tensor of a graph by the name that it gets here: names are unique then, and never empty."""

    name: str
    code: int
    shape: tuple[int, ...]
    open_shape: tuple[SourceDim, ...]  # with None for what may have any size
    content: Array | None
    quantisation: QuantType | None

    def declared(self) -> SourceTensor:
        dtype = DTYPES[self.code]
        quantisation = self.quantisation if dtype in (DType.S8, DType.U8, DType.S16) else None
        return SourceTensor(self.name, dtype, self.open_shape, HALVES.get(self.code), self.shape, quantisation)


@dataclass(frozen=True)
class _Graph:
    tensors: tuple[_Tensor, ...]
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]
    nodes: tuple[SourceNode, ...]

    def constants(self) -> dict[str, Array]:
        return {tensor.name: tensor.content for tensor in self.tensors if tensor.content is not None}


def read(file: Path, name: str) -> SourceModel:
    """The checked content of a file. LatheError where it is not a model."""
    where = Where(file=str(file), model=name)
    data = read_bytes(file, where, "save the model with fewer or smaller weights", DAMAGED)
    reader = _Reader(File(data, where, DAMAGED))
    graph = reader.graph(0)
    if not graph.outputs:
        raise ModelFileError("the model has no outputs", where=where, remedy=DAMAGED)
    declared = {tensor.name: tensor.declared() for tensor in graph.tensors if tensor.code in DTYPES}
    kept = without_variables(graph.nodes, declared, reader.initial(graph), where)
    constants = graph.constants()
    inputs = {tensor.name: tensor.declared() for tensor in graph.inputs if tensor.name not in constants} | kept.inputs
    constants |= kept.constants
    outputs = {tensor.name: tensor.declared() for tensor in graph.outputs} | kept.outputs
    declared |= kept.inputs | kept.outputs
    check_names(kept.nodes, {**inputs, **constants}, outputs, where, DAMAGED)
    nodes = with_parts(in_execution_order(kept.nodes, where), COMPLEX)
    return SourceModel(where, 0, "NHWC", inputs, outputs, declared, constants, nodes, initial=kept.initial)


class _Reader:
    """The parts of a file that all graphs in it share."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._where = file.where
        if file.identifier() != _IDENTIFIER:
            raise ModelFileError(
                "this is not a TFLite model", where=self._where, rule="bytes 4 to 8 are TFL3", remedy=DAMAGED
            )
        root = file.root()
        version = root.integer(0, "<I")
        if version != _VERSION:
            raise ModelFileError(f"the format has the version {version}", where=self._where, rule=f"it is {_VERSION}")
        self._operators = [self._operator(table) for table in root.tables(1)]
        self._graphs = list(root.tables(2))
        self._buffers = list(root.tables(4))

    def graph(self, index: int, prefix: str = "") -> _Graph:
        """One of the graphs of the file; `prefix` comes before the names of its nodes."""
        if not 0 <= index < len(self._graphs):
            raise ModelFileError(f"there is no graph {index} in the file", where=self._where, remedy=DAMAGED)
        table = self._graphs[index]
        tensors = self._tensors(table)
        inputs, outputs = (self._picked(tensors, table.numbers(field, "<i4")) for field in (1, 2))
        nodes = tuple(self._node(one, number, tensors, prefix) for number, one in enumerate(table.tables(3)))
        for tensor in (*inputs, *outputs):
            dtype_of_code(tensor.code, Where(self._where.file, model=self._where.model, value=tensor.name))
        return _Graph(tensors, inputs, outputs, nodes)

    def initial(self, graph: _Graph) -> dict[tuple[object, object], Array]:
        """The values that variables have before the first run."""
        found: dict[tuple[object, object], Array] = {}
        for node in graph.nodes:
            index = node.attributes.get("init_subgraph_index")
            if node.op == RUN_ONCE and isinstance(index, int):
                once = self.graph(index)
                found |= values_of(once.nodes, once.constants(), self._where)
        return found

    # -- operators ---------------------------------------------------------------------------------------------------
    def _operator(self, table: Table) -> _Operator:
        number = max(table.integer(0, "<b"), table.integer(3))
        custom = table.text(1)
        if number == CUSTOM:
            return _Operator(custom or "CUSTOM", table.integer(2, default=1))
        title = operators().get(number)
        if title is None:
            raise ModelFileError(f"there is no operator {number}", where=self._where, remedy=DAMAGED)
        return _Operator(title, table.integer(2, default=1))

    def _node(self, table: Table, number: int, tensors: Sequence[_Tensor], prefix: str) -> SourceNode:
        index = table.integer(0, "<I")
        if index >= len(self._operators):
            raise ModelFileError(f"operator {index} is not in the list", where=self._where, remedy=DAMAGED)
        operator = self._operators[index]
        inputs, outputs = (self._picked(tensors, table.numbers(field, "<i4"), True) for field in (1, 2))
        name = prefix + next((tensor.name for tensor in outputs if tensor.name), f"number {number}")
        attributes = attributes_of(table.table(4), table.integer(3, "<B"))
        options = table.numbers(5, "u1")
        if options.size:
            attributes["custom_options"] = options
        used = {tensor.name: tensor for tensor in (*inputs, *outputs) if tensor.name}
        where = Where(self._where.file, model=self._where.model, node=name)
        for tensor in used.values():
            if tensor.code == COMPLEX64 and operator.title in COMPLEX:
                continue
            if tensor.code != RESOURCE or operator.title not in ON_VARIABLES:
                dtype_of_code(tensor.code, where)
        return SourceNode(
            operator.title,
            "",
            name,
            tuple(tensor.name for tensor in inputs),
            (*(tensor.name for tensor in outputs), *_new_state(operator.title, inputs)),
            attributes,
            bodies=self._bodies(attributes, name),
            quantisation={one: tensor.quantisation for one, tensor in used.items() if tensor.quantisation},
            dtypes={one: DTYPES[tensor.code] for one, tensor in used.items() if tensor.code in DTYPES},
            between=tuple(tensor.quantisation for tensor in self._picked(tensors, table.numbers(8, "<i4"), True)),
        )

    def _bodies(self, attributes: dict[str, AttributeValue], owner: str) -> dict[str, Callable[[], SourceBody]]:
        indices = {key: attributes[key] for key in _BODIES if key in attributes}
        return {
            key: functools.partial(self._body, index, f"{owner}/")
            for key, index in indices.items()
            if isinstance(index, int)
        }

    def _body(self, index: int, prefix: str) -> SourceBody:
        """A graph inside of a node. Its tensors have names of their own: it reads none from around it."""
        graph = self.graph(index, prefix)
        inputs, outputs = (tuple(tensor.name for tensor in tensors) for tensors in (graph.inputs, graph.outputs))
        constants = graph.constants()
        check_names(graph.nodes, dict.fromkeys((*inputs, *constants)), dict.fromkeys(outputs), self._where, DAMAGED)
        declared = {tensor.name: tensor.declared() for tensor in graph.inputs}
        nodes = with_parts(in_execution_order(graph.nodes, self._where), COMPLEX)
        return with_rows(SourceBody(inputs, outputs, constants, nodes, declared))

    # -- tensors -----------------------------------------------------------------------------------------------------
    def _picked(
        self, tensors: Sequence[_Tensor], indices: Iterable[int], optional: bool = False
    ) -> tuple[_Tensor, ...]:
        """Tensors by their numbers; -1 is one that is left out."""
        found = []
        for index in indices:
            if optional and index == -1:
                found.append(_LEFT_OUT)
            elif 0 <= index < len(tensors):
                found.append(tensors[index])
            else:
                raise ModelFileError(f"there is no tensor {index}", where=self._where, remedy=DAMAGED)
        return tuple(found)

    def _tensors(self, graph: Table) -> tuple[_Tensor, ...]:
        tensors: list[_Tensor] = []
        taken: set[str] = set()
        for number, table in enumerate(graph.tables(0)):
            name = table.text(3) or f"tensor_{number}"
            while name in taken:
                name = f"{name}#{number}"
            taken.add(name)
            tensors.append(self._tensor(table, name))
        return tuple(tensors)

    def _tensor(self, table: Table, name: str) -> _Tensor:
        where = Where(self._where.file, model=self._where.model, value=name)
        code = table.integer(1, "<b")
        shape = tuple(int(dim) for dim in table.numbers(0, "<i4"))
        check_shape(shape, where)
        signature = tuple(int(dim) for dim in table.numbers(7, "<i4"))
        signature = signature if len(signature) == len(shape) else shape
        open_shape = tuple(size if dim >= 0 else None for size, dim in zip(shape, signature, strict=True))
        content = self._content(table, code, shape, where)
        quantisation = quantisation_of(table.table(4), code, shape, where)
        return _Tensor(name, code, shape, open_shape, content, quantisation)

    def _content(self, table: Table, code: int, shape: tuple[int, ...], where: Where) -> Array | None:
        """What a tensor holds before the model runs; None where the model makes it."""
        buffer = table.integer(2, "<I")
        data = self._buffer(buffer, where)
        if code not in DTYPES:  # such tensors are refused where something reads them
            return None
        if data.size:
            return array_of(code, shape, data, table.table(6), where)
        if buffer and 0 in shape:
            return np.zeros(shape, DTYPES[code].numpy)
        if table.integer(5, "<B"):  # a state, which is zero at first
            return np.broadcast_to(np.zeros((), DTYPES[code].numpy), shape)
        return None

    def _buffer(self, index: int, where: Where) -> Array:
        if index == 0:  # which is empty by convention
            return _NOTHING
        if index >= len(self._buffers):
            raise ModelFileError(f"there is no buffer {index}", where=where, remedy=DAMAGED)
        table = self._buffers[index]
        offset, size = table.integer(1, "<Q"), table.integer(2, "<Q")
        if offset > 1:  # behind the tables, in files of more than 2 GB
            self._file.check(offset, size)
            return np.frombuffer(self._file.data, np.uint8, size, offset)
        return table.numbers(0, "u1")


def _new_state(title: str, inputs: Sequence[_Tensor]) -> tuple[str, ...]:
    """The file has one tensor for a state before and behind an operator that keeps it between runs."""
    return tuple(f"{tensor.name}:next" for tensor in inputs[4:5] if tensor.name) if title == "SVDF" else ()


_LEFT_OUT = _Tensor("", 0, (), (), None, None)
