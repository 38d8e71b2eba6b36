"""The graph: SSA values, nodes in execution order, regions.

A graph is mutable while passes work on it and owned by one stage at a time; `clone` gives an independent copy.
Constant arrays are shared between clones and are never written to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from buildtool.ir.dims import Symbol
from buildtool.ir.operator import Array, Operator, RegionType
from buildtool.ir.types import DType, QuantType, TensorType, dtype_of


class Value:
    """One SSA value. Compared by identity; `name` is unique in its graph, regions included.

    `source_names` are the names that the value had in the source model. They survive fusion: a fused node's output
    keeps the names of the value it replaces, so that layers can be compared with the source framework.
    """

    __slots__ = ("_names", "_shown", "constant", "name", "type")
    _shown: tuple[str, ...] | None
    _names: dict[str, None] | None  # the same, in order, once names were added

    def __init__(
        self, name: str, type_: TensorType, source_names: Iterable[str] = (), constant: Array | None = None
    ) -> None:
        self.name = name
        self.type = type_
        self.constant = constant
        self.source_names = tuple(source_names)

    @property
    def source_names(self) -> tuple[str, ...]:
        if self._shown is None:
            self._shown = tuple(self._names or ())
        return self._shown

    @source_names.setter
    def source_names(self, names: tuple[str, ...]) -> None:
        self._shown = names
        self._names = None

    def add_source_names(self, names: Iterable[str]) -> None:
        """Those that it does not have yet, behind the others. Takes a time in proportion to what is added."""
        if self._names is None:
            self._names = dict.fromkeys(self._shown or ())
        self._names.update(dict.fromkeys(names))
        self._shown = None

    @property
    def is_constant(self) -> bool:
        return self.constant is not None

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


@dataclass(eq=False)
class Node:
    """One application of an operator. Only trailing inputs are optional, so an absent one is simply not in the list."""

    op: Operator
    inputs: list[Value]
    outputs: list[Value]
    name: str = ""  # the name of the source node it came from, for messages
    regions: list[Region] = field(default_factory=list)

    def input(self, index: int) -> Value | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def captured(self) -> Iterator[Value]:
        """What the regions of this node read from around it, constants included; what is read twice comes twice."""
        made: set[Value] = set()
        read: list[Value] = []
        for region in self.regions:
            for body in region.bodies():
                made.update(body.inputs)
                read += body.outputs
                for node in body.nodes:
                    made.update(node.outputs)
                    read += node.inputs
        yield from (value for value in read if value not in made)

    def __repr__(self) -> str:
        return f"{', '.join(f'%{value.name}' for value in self.outputs)} = {self.op.name}('{self.name}')"


@dataclass(eq=False)
class Region:
    """A body of nodes (a branch, a loop body). It may read values of the graphs around it; nothing leaks out of it."""

    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """All nodes, those of nested regions included, a node before the nodes of its regions."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    def bodies(self) -> Iterator[Region]:
        """This region and every one in it."""
        yield self
        for node in self.walk():
            yield from node.regions

    @property
    def type(self) -> RegionType:
        return RegionType(
            tuple(value.type for value in self.inputs),
            tuple(value.type for value in self.outputs),
        )


@dataclass(frozen=True, eq=False)
class StoredLayer:
    """A layer of integers as its file stores it. Its values are those of nodes that compute the same in floats."""

    kind: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    arrays: Mapping[str, Array]
    numbers: Mapping[str, float]


@dataclass(eq=False)
class Graph(Region):
    """A whole model: the outermost region, its name and the symbols that its dimensions use.

    Model inputs and outputs are in the order and formats that the deployment file declares.

    `ranges` is what training for quantisation found of tensors, by their names in the source model or here: their
    numbers are floats that stand for whole numbers of this type. Nothing that computes reads it.

    `stored_layers` are for targets that compute such layers to the last bit; others compute the nodes.

    `initial` has, by the names of inputs, the elements that a state of a streaming model has before the first run.
    """

    name: str = "model"
    symbols: dict[str, Symbol] = field(default_factory=dict)
    ranges: dict[str, QuantType] = field(default_factory=dict)
    initial: dict[str, Array] = field(default_factory=dict)
    stored_layers: list[StoredLayer] = field(default_factory=list)
    _counter: int = 0

    def range_of(self, value: Value) -> QuantType | None:
        """How the numbers of a value would be stored, where that is known."""
        if not self.ranges:
            return None
        return next((self.ranges[name] for name in (value.name, *value.source_names) if name in self.ranges), None)

    def fresh_name(self, hint: str) -> str:
        """A name that no value made through this graph has."""
        self._counter += 1
        return f"{hint}.{self._counter}"

    def continue_names(self) -> None:
        """Makes `fresh_name` go on behind the numbers that names in the graph end with: call it after reading one."""
        numbers = (value.name.rpartition(".")[2] for value in self.values())
        self._counter = max([self._counter, *(int(text) for text in numbers if re.fullmatch("[0-9]{1,18}", text))])

    def new_value(self, hint: str, type_: TensorType, source_names: tuple[str, ...] = ()) -> Value:
        return Value(self.fresh_name(hint), type_, source_names)

    def new_constant(self, hint: str, array: Array) -> Value:
        """A constant value. The array is made read-only: clones and passes share it."""
        array = np.asarray(array)  # arithmetic on arrays without axes gives numbers of NumPy
        array = array if _is_its_own(array) else array.copy()
        array.setflags(write=False)
        return Value(self.fresh_name(hint), TensorType(dtype_of(array), tuple(array.shape)), (), array)

    def new_node(
        self,
        op: Operator,
        inputs: Iterable[Value],
        name: str = "",
        hint: str = "",
        regions: Iterable[Region] = (),
        stored: Sequence[tuple[DType, QuantType] | None] = (),
    ) -> Node:
        """A node with inferred output types, not yet inserted. OperatorError where the operator refuses its inputs.

        `stored` makes it a node on the real numbers behind its inputs (see `quantised`): how it stores each output,
        None for one of real numbers.
        """
        operands, bodies = list(inputs), list(regions)
        if stored:
            real = op.infer([value.type.real for value in operands])
            types = tuple(
                type_ if how is None else TensorType(how[0], type_.shape, how[1])
                for type_, how in zip(real, stored, strict=True)
            )
        else:
            types = op.infer_node([value.type for value in operands], [region.type for region in bodies])
        outputs = [self.new_value(hint or op.name, type_) for type_ in types]
        return Node(op, operands, outputs, name, bodies)

    def clone(self) -> Graph:
        """An independent copy that shares only operators, types and constant arrays."""
        copies: dict[Value, Value] = {}

        def value(old: Value) -> Value:
            if old not in copies:
                copies[old] = Value(old.name, old.type, old.source_names, old.constant)
            return copies[old]

        def region(old: Region, new: Region) -> Region:
            new.inputs = [value(item) for item in old.inputs]
            for node in old.nodes:
                new.nodes.append(
                    Node(
                        node.op,
                        [value(item) for item in node.inputs],
                        [value(item) for item in node.outputs],
                        node.name,
                        [region(inner, Region()) for inner in node.regions],
                    )
                )
            new.outputs = [value(item) for item in old.outputs]
            return new

        copy = Graph(name=self.name, symbols=dict(self.symbols), _counter=self._counter)
        copy.ranges, copy.initial = dict(self.ranges), dict(self.initial)
        region(self, copy)
        copy.stored_layers = [
            replace(
                layer,
                inputs=tuple(value(item) for item in layer.inputs),
                outputs=tuple(value(item) for item in layer.outputs),
            )
            for layer in self.stored_layers
        ]
        return copy

    def values(self) -> Iterator[Value]:
        """Every value once, in order of first appearance: inputs, constants where first used, node outputs."""
        seen: set[int] = set()

        def once(items: Iterable[Value]) -> Iterator[Value]:
            for item in items:
                if id(item) not in seen:
                    seen.add(id(item))
                    yield item

        def region(body: Region) -> Iterator[Value]:
            yield from once(body.inputs)
            for node in body.nodes:
                yield from once(node.inputs)
                for inner in node.regions:
                    yield from region(inner)
                yield from once(node.outputs)
            yield from once(body.outputs)

        yield from region(self)

    def producers(self) -> dict[Value, Node]:
        """The node that makes each value; inputs and constants have none."""
        return {value: node for node in self.walk() for value in node.outputs}

    def users(self) -> dict[Value, list[Node]]:
        """The nodes that read each value, once per node; region outputs are not nodes and are not listed."""
        result: dict[Value, list[Node]] = {}
        for node in self.walk():
            for value in dict.fromkeys(node.inputs):
                result.setdefault(value, []).append(node)
        return result

    def replace_uses(self, old: Value, new: Value) -> None:
        """Every read of `old`, region outputs included, reads `new`; `new` inherits the source names of `old`."""
        for node in self.walk():
            node.inputs = [new if item is old else item for item in node.inputs]
        for body in self.bodies():
            body.outputs = [new if item is old else item for item in body.outputs]
        new.add_source_names(old.source_names)

    def remove_nodes(self, doomed: Callable[[Node], bool]) -> int:
        """Removes the nodes that `doomed` says so of, in all regions, and tells how many."""
        removed = 0
        for body in self.bodies():
            kept = [node for node in body.nodes if not doomed(node)]
            removed += len(body.nodes) - len(kept)
            body.nodes = kept
        return removed


def _is_its_own(array: Array) -> bool:
    """Whether nothing can change an array from outside, and it keeps nothing alive that is much larger than it is.

    Its elements are in order, unless they are in a file that is mapped: its transpose needs no memory either.
    """
    base: Any = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if not array.flags.c_contiguous:
        return isinstance(base, np.memmap) and base.mode == "r"
    if base.base is None:
        return base is array or (not base.flags.writeable and base.nbytes <= 2 * array.nbytes)
    if isinstance(base.base, bytes):
        return len(base.base) <= 2 * array.nbytes
    return isinstance(base, np.memmap) and base.mode == "r"
