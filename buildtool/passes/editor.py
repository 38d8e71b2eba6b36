"""Edits a graph while keeping track of who makes and who reads each value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType

_NEAR = 16  # places on each side that are looked at before the whole body is
_KEPT: dict[Graph, Editor | None] = {}  # by `keeping`


@contextmanager
def keeping(graph: Graph) -> Iterator[None]:
    """Meanwhile, editors of an unchanged graph share what they know of it. See `forget`."""
    _KEPT[graph] = None
    try:
        yield
    finally:
        del _KEPT[graph]


def forget(graph: Graph) -> None:
    """Call it where something else than an editor may have changed the graph."""
    if graph in _KEPT:
        _KEPT[graph] = None


class Editor:
    """A graph with its producers and readers at hand. All changes go through it while it is in use."""

    def __init__(self, graph: Graph) -> None:
        kept = _KEPT.get(graph)
        if kept is not None and not kept.changed:
            self.__dict__.update(kept.__dict__)
        else:
            self._look_at(graph)
        if graph in _KEPT:
            _KEPT[graph] = self

    def _look_at(self, graph: Graph) -> None:
        self.graph = graph
        self.changed = False
        self._producer: dict[Value, Node] = {}
        self._readers: dict[Value, dict[Node, list[int]]] = {}  # in order; which of their operands it is
        self._body: dict[Node, Region] = {}
        self._taken: dict[Value, Region] = {}  # inputs of the graph and of regions
        self._outputs: dict[Value, list[tuple[Region, int]]] = {}
        self._places: dict[Node, int] = {}  # where nodes stood in their bodies when the editor first saw them
        self._drift = 0  # how far the last one that was looked for had moved since
        for body in graph.bodies():
            self._places.update((node, index) for index, node in enumerate(body.nodes))
            self._taken.update(dict.fromkeys(body.inputs, body))
            for place, value in enumerate(body.outputs):
                self._outputs.setdefault(value, []).append((body, place))
            for node in body.nodes:
                self._link(node, body)

    def _link(self, node: Node, body: Region) -> None:
        self._body[node] = body
        for value in node.outputs:
            self._producer[value] = node
        self._read(node)

    def _read(self, node: Node) -> None:
        for place, value in enumerate(node.inputs):
            self._readers.setdefault(value, {}).setdefault(node, []).append(place)

    def _place(self, node: Node) -> int:
        """The position of a node in its body. Passes edit neighbours one after the other, and those have moved alike.

        So the search takes a time that does not depend on the number of nodes, but for the first after a jump.
        """
        nodes = self._body[node].nodes
        guess = self._places.get(node, 0) + self._drift
        for step in range(_NEAR):
            for place in (guess + step, guess - step):
                if 0 <= place < len(nodes) and nodes[place] is node:
                    self._drift += place - guess
                    return place
        place = nodes.index(node)
        self._drift += place - guess
        return place

    def nodes(self) -> Iterator[Node]:
        """The nodes as they were when the walk began, less those that have been removed since."""
        for node in list(self.graph.walk()):
            if node in self._body:
                yield node

    def contains(self, node: Node) -> bool:
        """Whether the node has not been removed."""
        return node in self._body

    def first(self, nodes: Iterable[Node]) -> Node | None:
        """The one that runs first; None where they are in different bodies."""
        wanted = set(nodes)
        bodies = {id(self._body[node]): self._body[node] for node in wanted}
        if len(bodies) != 1:
            return None
        (body,) = bodies.values()
        return next(node for node in body.nodes if node in wanted)

    def producer(self, value: Value) -> Node | None:
        return self._producer.get(value)

    def readers(self, value: Value) -> list[Node]:
        return list(self._readers.get(value, ()))

    def is_output(self, value: Value) -> bool:
        """Whether the graph or a region gives this value away."""
        return value in self._outputs

    def is_unused(self, value: Value) -> bool:
        return not self._readers.get(value) and value not in self._outputs

    def is_private(self, value: Value) -> bool:
        """Whether exactly one node reads the value and nothing else sees it.

        A node in a region reads what stands around the region as often as the region runs: that is not private.
        """
        readers = self._readers.get(value, {})
        if len(readers) != 1 or value in self._outputs:
            return False
        home = self._home(value)
        return home is None or home is self._body[next(iter(readers))]

    def _home(self, value: Value) -> Region | None:
        """The body that makes or takes a value; constants have none."""
        node = self._producer.get(value)
        return self._taken.get(value) if node is None else self._body[node]

    def private_maker(self, value: Value, *ops: str) -> Node | None:
        """The node of one of these operators that makes the value, where only one node reads it."""
        node = self._producer.get(value)
        return node if node is not None and node.op.name in ops and self.is_private(value) else None

    # -- changes -----------------------------------------------------------------------------------------------------
    def constant(self, like: Value | None, array: Array) -> Value:
        """A new constant; `like` gives the hint for its name."""
        hint = like.name.rsplit(".", 1)[0] if like is not None else "constant"
        return self.graph.new_constant(hint, array)

    def insert_before(self, anchor: Node, op: Operator, inputs: Iterable[Value], name: str = "") -> Node:
        """A new node in front of another."""
        node = self.graph.new_node(op, inputs, name or anchor.name)
        body = self._body[anchor]
        place = self._place(anchor)
        body.nodes.insert(place, node)
        self._link(node, body)
        self._places[node] = place - self._drift
        self.changed = True
        return node

    def insert_after(
        self,
        anchor: Node | None,
        op: Operator,
        inputs: Iterable[Value],
        name: str = "",
        stored: Sequence[tuple[DType, QuantType] | None] = (),
    ) -> Node:
        """A new node behind another, or at the beginning of the body that takes its first operand.

        `stored`: see `Graph.new_node`.
        """
        operands = list(inputs)
        reader = next(iter(self._readers.get(operands[0], ())), None) if operands else None
        source = anchor or reader
        node = self.graph.new_node(op, operands, name or (source.name if source else ""), stored=stored)
        start = (self._home(operands[0]) if operands else None) or self.graph
        body = self._body[anchor] if anchor is not None else start
        place = self._place(anchor) + 1 if anchor is not None else 0
        body.nodes.insert(place, node)
        self._link(node, body)
        self._places[node] = place - self._drift
        self.changed = True
        return node

    def replace(self, old: Value, new: Value) -> bool:
        """Everything that reads `old` reads `new`; names move along. False where the name of an output forbids it.

        Inputs, constants and other outputs cannot take over the name of an output.
        """
        if old in self._outputs:
            if new not in self._producer or new in self._outputs:
                return False
            old.name, new.name = new.name, old.name
            self._outputs[new] = self._outputs.pop(old)
            for body, place in self._outputs[new]:
                body.outputs[place] = new
        moved = self._readers.pop(old, {})
        readers = self._readers.setdefault(new, {})
        for node, places in moved.items():
            for place in places:
                node.inputs[place] = new
            readers.setdefault(node, []).extend(places)
        new.add_source_names(old.source_names)
        self.changed = True
        return True

    def forget_names(self, value: Value) -> None:
        """The elements of the value have another order now than the tensor of its names. Their range is the same."""
        known = self.graph.range_of(value)
        if known is not None:
            self.graph.ranges[value.name] = known
        value.source_names = ()

    def set_inputs(self, node: Node, inputs: Iterable[Value]) -> None:
        """Another list of operands for a node."""
        for value in dict.fromkeys(node.inputs):
            self._readers.get(value, {}).pop(node, None)
        node.inputs = list(inputs)
        self._read(node)
        self.changed = True

    def rebuild(self, node: Node, op: Operator, inputs: Iterable[Value], outputs: Iterable[Value]) -> None:
        """Another operator, operands and results for a node; what read the old results has to be seen to."""
        self.set_inputs(node, inputs)
        for value in node.outputs:
            if self._producer.get(value) is node:
                del self._producer[value]
        node.op, node.outputs = op, list(outputs)
        for value in node.outputs:
            self._producer[value] = node

    def remove(self, node: Node) -> None:
        """Takes a node out. Nothing may read it any more."""
        place = self._place(node)
        body = self._body.pop(node)
        del body.nodes[place], self._places[node]
        for value in node.inputs:
            self._readers.get(value, {}).pop(node, None)
        for value in node.outputs:
            self._producer.pop(value, None)
        self.changed = True

    def remove_if_unused(self, node: Node | None) -> None:
        if node is not None and node in self._body and all(self.is_unused(value) for value in node.outputs):
            self.remove(node)

    def sweep(self, value: Value) -> None:
        """Removes what made a value that is no longer read, and what made only that."""
        pending = [value]
        while pending:
            node = self._producer.get(pending.pop())
            if node is None or any(not self.is_unused(output) for output in node.outputs):
                continue
            if node.regions or node.op.defined_symbols():
                continue  # a body of its own, or sizes that other types speak of
            self.remove(node)
            pending += node.inputs

    def substitute(self, old: Node, op: Operator, inputs: Iterable[Value], name: str = "") -> Node:
        """A new node with one output in the place of another node with one output, which goes."""
        new = self.insert_before(old, op, inputs, name or old.name)
        replaced = self.replace(old.outputs[0], new.outputs[0])
        assert replaced, "a fresh value can take any name"
        self.remove(old)
        return new
