"""Moves transposes until they cancel: the pass that brings a whole network into channels-last order.

Importers wrap every spatial operator in transposes. Between two such operators lies a part of the graph (activations,
additions, concatenations, reshapes that split or merge axes) that works as well in the other order. For each transpose
the pass takes the whole part behind it, or before it, and asks what it would cost to turn it round: the transposes at
its borders that vanish, against those that would have to be inserted. The part is turned only if the sum of
transposes falls; or if it stays the same and transposes move towards the outputs, which brings operators that can be
fused next to each other. That sum never grows, so the pass ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from buildtool.ir.dims import static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops.reshape import Reshape
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.layout_rules import Carried, carry
from buildtool.passes.permutations import Perm, identity, inverse, is_identity, moves_only_ones, permuted, then

_FULL, _RESHAPE = 1000, 1  # costs of a transpose that moves elements, and of one that only renames axes


class MoveTransposes(Pass):
    name = "move_transposes"
    summary = "convert parts of the graph to channels-last order, so that transposes around spatial operators cancel"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        again = True
        while again:
            again = False
            for node in editor.nodes():
                if not isinstance(node.op, Transpose) or not editor.contains(node):
                    continue
                if is_identity(node.op.perm):
                    if editor.replace(node.outputs[0], node.inputs[0]):
                        editor.remove(node)
                    continue
                part = _best(editor, node)
                if part is not None:
                    _Turn(editor, part).apply()
                    again = True
        return editor.changed

    def ensures(self, graph: Graph) -> Iterator[str]:
        given = {value for body in graph.bodies() for value in body.outputs}
        for node in graph.walk():
            if isinstance(node.op, Transpose) and is_identity(_perm(node)) and node.outputs[0] not in given:
                yield f"{node!r} moves nothing"


@dataclass
class _Part:
    """A part of the graph to be turned: the new order of its values, and what its nodes become."""

    orders: dict[Value, Perm] = field(default_factory=dict)  # also those that keep their order for sure
    nodes: dict[Node, Carried] = field(default_factory=dict)

    def order(self, value: Value) -> Perm | None:
        """The new order of a value; None where it stays as it is."""
        perm = self.orders.get(value)
        return None if perm is None or is_identity(perm) else perm

    def turned(self) -> Iterator[tuple[Value, Perm]]:
        for value, perm in self.orders.items():
            if not is_identity(perm):
                yield value, perm


def _perm(node: Node) -> Perm:
    assert isinstance(node.op, Transpose)
    return node.op.perm


def _cost(type_: TensorType, perm: Perm) -> int:
    if is_identity(perm):
        return 0
    return _RESHAPE if moves_only_ones(type_.shape, perm) else _FULL


def _best(editor: Editor, transpose: Node) -> _Part | None:
    """The better of the two parts that a transpose borders on, if turning it is worth while."""
    perm = _perm(transpose)
    behind = _grow(editor, transpose.outputs[0], inverse(perm))
    before = _grow(editor, transpose.inputs[0], perm)
    gains = [(_gain(editor, part), part) for part in (behind, before) if part is not None]
    gain, part = max(gains, key=lambda item: item[0], default=(0, None))
    if gain > 0:
        return part
    if behind is not None and behind.nodes and _gain(editor, behind) == 0 and _only_sinks(editor, behind):
        return behind
    return None


def _grow(editor: Editor, seed: Value, perm: Perm) -> _Part | None:
    """The largest part around a value that can be turned with it. None where it contradicts itself."""
    part = _Part()
    pending = [(seed, perm)]
    while pending:
        value, wanted = pending.pop()
        if value.is_constant:
            continue
        if value in part.orders:
            if part.orders[value] != wanted:
                return None
            continue
        if value.type.quant is not None and value.type.quant.axis is not None:
            return None
        part.orders[value] = wanted
        if is_identity(wanted):
            continue
        producer = editor.producer(value)
        for node in [*([producer] if producer is not None else []), *editor.readers(value)]:
            if node in part.nodes or isinstance(node.op, Transpose):
                continue
            carried = carry(node, value, wanted)
            if carried is None:
                continue
            part.nodes[node] = carried
            orders = zip((*node.inputs, *node.outputs), (*carried.inputs, *carried.outputs), strict=True)
            pending += [(other, order) for other, order in orders if order is not None]
    return part


def _transposes(editor: Editor, part: _Part) -> list[Node]:
    """The transposes at the borders of a part, each once."""
    found: dict[Node, None] = {}
    for value, _ in part.turned():
        producer = editor.producer(value)
        for node in [*([producer] if producer is not None else []), *editor.readers(value)]:
            if isinstance(node.op, Transpose):
                found[node] = None
    return list(found)


def _turned_perm(part: _Part, transpose: Node) -> Perm:
    """What a transpose at the border becomes."""
    rank = transpose.inputs[0].type.rank
    before = part.order(transpose.inputs[0]) or identity(rank)
    after = part.order(transpose.outputs[0]) or identity(rank)
    return then(inverse(before), then(_perm(transpose), after))


def _enters(editor: Editor, part: _Part, value: Value) -> bool:
    """Whether a value of the part is made outside of it, in the old order."""
    producer = editor.producer(value)
    return producer is None or (producer not in part.nodes and not isinstance(producer.op, Transpose))


def _leaves(editor: Editor, part: _Part, value: Value) -> bool:
    """Whether a value of the part is read outside of it, in the old order."""
    if editor.is_output(value):
        return True
    return any(node not in part.nodes and not isinstance(node.op, Transpose) for node in editor.readers(value))


def _gain(editor: Editor, part: _Part) -> int:
    """By how much turning the part lowers the cost of transposes."""
    gain = 0
    for node in _transposes(editor, part):
        type_ = node.inputs[0].type
        turned = type_.with_shape(permuted(type_.shape, part.order(node.inputs[0]) or identity(type_.rank)))
        gain += _cost(type_, _perm(node)) - _cost(turned, _turned_perm(part, node))
    for value, perm in part.turned():
        if _enters(editor, part, value):
            gain -= _cost(value.type, perm)
        if _leaves(editor, part, value):
            gain -= _cost(value.type, perm)  # the way back costs the same
    for node, carried in part.nodes.items():
        for operand in _broadcast_operands(node, carried):
            if not operand.is_constant and carried.broadcast is not None:
                missing = len(carried.broadcast) - operand.type.rank
                gain -= _cost(operand.type.with_shape((1,) * missing + operand.type.shape), carried.broadcast)
    return gain


def _broadcast_operands(node: Node, carried: Carried) -> list[Value]:
    """Operands with fewer axes than the result, and more than none."""
    if carried.broadcast is None:
        return []
    return [value for value in node.inputs if 0 < value.type.rank < len(carried.broadcast)]


def _only_sinks(editor: Editor, part: _Part) -> bool:
    """Whether turning the part moves transposes towards the outputs and none towards the inputs."""
    if any(_enters(editor, part, value) for value, _ in part.turned()):
        return False
    return all(
        part.order(node.outputs[0]) is not None and is_identity(_turned_perm(part, node))
        for node in _transposes(editor, part)
    )


class _Turn:
    """Rewrites the graph so that the values of a part come in their new orders."""

    def __init__(self, editor: Editor, part: _Part) -> None:
        self._editor = editor
        self._part = part
        self._new: dict[Value, Value] = {}

    def apply(self) -> None:
        editor, part = self._editor, self._part
        turned = list(part.turned())
        entering = [item for item in turned if _enters(editor, part, item[0])]
        leaving = [item for item in turned if item not in entering and _leaves(editor, part, item[0])]
        for value, perm in turned:
            type_ = value.type.with_shape(permuted(value.type.shape, perm))
            self._new[value] = editor.graph.new_value(value.name.rsplit(".", 1)[0], type_)
        border = [(node, _turned_perm(part, node)) for node in _transposes(editor, part)]
        for node, carried in part.nodes.items():
            editor.rebuild(node, carried.op, self._operands(node, carried), [self._now(v) for v in node.outputs])
        for node, perm in border:
            editor.rebuild(node, Transpose(perm), [self._now(node.inputs[0])], [self._now(node.outputs[0])])
        for value, perm in entering:
            self._insert(editor.producer(value), value, perm, self._new[value])
        for value, perm in leaving:
            self._insert(editor.producer(self._new[value]), self._new[value], inverse(perm), value)
        for value, _ in turned:  # a value that is gone leaves its names to the same elements in another order
            if editor.producer(value) is None and value not in editor.graph.inputs:
                self._new[value].add_source_names(value.source_names)
        for node, perm in border:
            if is_identity(perm) and editor.replace(node.outputs[0], node.inputs[0]):
                editor.remove(node)

    def _now(self, value: Value) -> Value:
        return self._new.get(value, value)

    def _insert(self, after: Node | None, source: Value, perm: Perm, result: Value) -> None:
        node = self._editor.insert_after(after, Transpose(perm), [source])
        self._editor.rebuild(node, node.op, node.inputs, [result])

    def _operands(self, node: Node, carried: Carried) -> list[Value]:
        operands: list[Value] = []
        for value, perm in zip(node.inputs, carried.inputs, strict=True):
            if value in _broadcast_operands(node, carried):
                assert carried.broadcast is not None
                operands.append(self._widened(node, value, carried.broadcast))
            elif value.constant is not None and perm is not None:
                operands.append(self._constant(value, value.constant.transpose(perm)))
            else:
                operands.append(self._now(value))
        return operands

    def _constant(self, value: Value, array: Array) -> Value:
        constant = self._editor.constant(value, array)
        constant.source_names = value.source_names
        return constant

    def _widened(self, node: Node, value: Value, perm: Perm) -> Value:
        """An operand with all axes of the result, in the new order."""
        shape = (1,) * (len(perm) - value.type.rank) + value.type.shape
        if value.constant is not None:
            return self._constant(value, value.constant.reshape(static(shape)).transpose(perm))
        wide = self._editor.insert_before(node, Reshape(shape), [self._now(value)])
        return self._editor.insert_before(node, Transpose(perm), [wide.outputs[0]]).outputs[0]
