"""Recognises loops whose every step is that of a recurrent layer, as TensorFlow, Keras and others write them out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.add import Add
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.gru import Gru
from buildtool.ops.loop import Loop
from buildtool.ops.lstm import Lstm
from buildtool.ops.reshape import Reshape
from buildtool.ops.slice import Slice
from buildtool.ops.split import Split
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

_MOST_TERMS = 32
_MOST_STATES = 4  # values that are tried as states
_PASSING = ("cast", "identity", "reshape")


class RecogniseRecurrentLayers(Pass):
    name = "recognise_recurrent_layers"
    summary = "replace a loop over the steps of an LSTM or a GRU by lstm or gru, after one matrix product for all steps"
    requires = ("matmul_to_fully_connected",)
    makes = ("lstm", "gru")

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if isinstance(node.op, Loop):
                _rewrite(editor, node, node.op)
        return editor.changed


@dataclass
class _Sum:
    """Products with the step's input and with the last output, and constants."""

    sequence: Value | None = None
    weights: dict[str, Array] = field(default_factory=dict)  # of the input (x) and the output (h)
    bias: Array | float = 0.0

    def weights_of_both(self) -> tuple[Array, Array]:
        return self.weights["x"], self.weights["h"]


class _Body:
    """What one step of a loop computes."""

    def __init__(self, editor: Editor, loop: Node) -> None:
        self._editor = editor
        self.region: Region = loop.regions[0]
        self._inside = {value for node in self.region.nodes for value in node.outputs} | set(self.region.inputs)
        self.number, *self.carried = self.region.inputs
        self.goes_on, *self.given = self.region.outputs

    def made(self, value: Value, *ops: str) -> Node | None:
        node = self._editor.producer(value)
        inside = node is not None and value in self._inside
        return node if node is not None and inside and node.op.name in ops and _is_plain(node) else None

    def sides(self, value: Value, op: str) -> Iterator[tuple[Value, Value]]:
        """Both operands of a sum or a product, in both orders."""
        node = self.made(value, op)
        if node is not None:
            yield node.inputs[0], node.inputs[1]
            yield node.inputs[1], node.inputs[0]

    def argument(self, value: Value, op: str) -> Value | None:
        node = self.made(value, op)
        return None if node is None else node.inputs[0]

    def is_copy(self, place: int, output: Value) -> bool:
        """Whether what is carried there is the last output in another shape, which no step reads."""
        value = self.given[place]
        while (node := self.made(value, "reshape")) is not None:
            value = node.inputs[0]
        return value is output and not self._editor.readers(self.carried[place])

    def is_state(self, place: int) -> bool:
        type_ = self.carried[place].type
        return type_.dtype is DType.F32 and type_.rank == 2 and isinstance(type_.shape[1], int)

    def piece(self, value: Value | None, size: int) -> tuple[Value, int] | None:
        """What a value is cut from along the last of two axes, and as which of the pieces of one size."""
        node = None if value is None else self.made(value, "split", "slice")
        if node is None or value is None or value.type.shape[1:] != (size,):
            return None
        if isinstance(node.op, Split):
            even = node.op.axis == 1 and set(node.op.sizes) == {size}
            return (node.inputs[0], node.outputs.index(value)) if even else None
        assert isinstance(node.op, Slice)
        _, start = node.op.starts
        cut = node.op.starts[0] == 0 and set(node.op.steps) == {1} and node.op.sizes[0] == node.inputs[0].type.shape[0]
        return (node.inputs[0], start // size) if cut and isinstance(start, int) and start % size == 0 else None

    def sum_of(self, value: Value, output: Value) -> _Sum | None:
        """A sum as products; None where something else is in it."""
        found, waiting = _Sum(), [value]
        for _ in range(_MOST_TERMS):
            if not waiting:
                return found
            item = waiting.pop()
            node = self.made(item, "add", "fully_connected")
            if item.constant is not None and item.type.rank <= 1:
                found.bias = found.bias + item.constant
            elif node is not None and isinstance(node.op, Add):
                waiting += node.inputs
            elif node is None or not self._product(node, output, found):
                return None
        return None

    def _product(self, node: Node, output: Value, found: _Sum) -> bool:
        x, weights, *bias = node.inputs
        sequence = None if x is output else self._sequence(x)
        key = "h" if x is output else "x"
        known = weights.constant is not None and all(value.constant is not None for value in bias)
        if not known or key in found.weights or (key == "x" and sequence is None):
            return False
        assert weights.constant is not None
        found.weights[key] = weights.constant
        found.sequence = sequence or found.sequence
        for value in bias:
            assert value.constant is not None
            found.bias = found.bias + value.constant
        return True

    def _sequence(self, x: Value) -> Value | None:
        """The tensor from around the loop whose row a step reads at its number."""
        node = self.made(x, "gather")
        if node is None or getattr(node.op, "axis", None) != 0:
            return None
        sequence, place = node.inputs
        while place is not self.number:
            passed = self.made(place, *_PASSING)
            if passed is None:
                return None
            place = passed.inputs[0]
        return None if sequence in self._inside or sequence.type.rank != 3 else sequence


@dataclass(frozen=True)
class _Layer:
    """A layer that was found: what goes into it, in the graph's order of gates, and where its states are carried."""

    op: Lstm | Gru
    sequence: Value
    kernel: Array
    bias: Array
    recurrent: Array
    states: tuple[int, ...]
    inner: Array | None = None


def _is_plain(node: Node) -> bool:
    return not isinstance(node.op, Add | FullyConnected) or node.op.activation == "none"


def _rewrite(editor: Editor, loop: Node, op: Loop) -> None:
    body = _Body(editor, loop)
    trips, condition, *starts = loop.inputs
    always = all(value.constant is not None and value.constant.all() for value in (condition, body.goes_on))
    layer = _lstm(body) or _gru(body) if always and op.most and not op.size else None
    if layer is None or layer.sequence.type.shape[0] != op.most[0] or not _reaches(trips.constant, op):
        return
    output, stacked = body.given[layer.states[0]], loop.outputs[len(starts) :]
    others = [place for place in range(len(starts)) if place not in layer.states]
    if any(value is not output for value in body.given[len(starts) :]) or sum(map(editor.is_output, stacked)) > 1:
        return  # two outputs of the graph cannot be one value
    if not all(body.is_copy(place, output) for place in others):
        return
    kernel, bias, recurrent = (editor.constant(None, array) for array in (layer.kernel, layer.bias, layer.recurrent))
    share = editor.insert_before(loop, FullyConnected(), [layer.sequence, kernel, bias])
    inner = [] if layer.inner is None else [editor.constant(None, layer.inner)]
    given = [share.outputs[0], recurrent, *(starts[place] for place in layer.states), *inner]
    made = editor.insert_before(loop, layer.op, given)
    for place in others:
        copy = editor.insert_before(loop, Reshape(loop.outputs[place].type.shape), [made.outputs[1]])
        editor.replace(loop.outputs[place], copy.outputs[0])
    for number, place in enumerate(layer.states):
        editor.replace(loop.outputs[place], made.outputs[1 + number])
    for value in stacked:
        editor.replace(value, made.outputs[0])
    editor.remove(loop)


def _reaches(trips: Array | None, op: Loop) -> bool:
    """Whether there are as many iterations as there may be, and at least one."""
    if trips is None or trips.size != 1 or bounds(op.most[0])[0] < 1:
        return False
    most, number = op.most[0], int(trips.reshape(-1)[0])
    return number >= most if isinstance(most, int) else number == np.iinfo(np.int64).max


# -- cells -------------------------------------------------------------------------------------------------------------
def _lstm(body: _Body) -> _Layer | None:
    """c = f * c + i * tanh(n), h = o * tanh(c)."""
    places = [place for place in range(len(body.carried)) if body.is_state(place)]
    for output, state in itertools.permutations(places[:_MOST_STATES], 2):
        size = body.carried[output].type.shape[1]
        for shown, cell in body.sides(body.given[output], "mul"):
            gates = _gates_of_lstm(body, body.given[state], body.carried[state])
            if body.argument(cell, "tanh") is not body.given[state] or gates is None or not isinstance(size, int):
                continue
            forget, update, new = gates
            pieces = [body.piece(gate, size) for gate in (update, body.argument(shown, "sigmoid"), forget, new)]
            found = _one_sum(body, pieces, body.carried[output], size)
            if found is not None and set(found[0].weights) == {"x", "h"}:
                total, order = found
                kernel, recurrent, bias = (
                    _ordered(array, order, size) for array in (*total.weights_of_both(), _row(total, 4 * size))
                )
                assert total.sequence is not None
                return _Layer(Lstm(function_f="sigmoid"), total.sequence, kernel, bias, recurrent, (output, state))
    return None


def _gates_of_lstm(body: _Body, after: Value, before: Value) -> tuple[Value, Value, Value] | None:
    """What goes into the gates f, i and n."""
    for kept, added in body.sides(after, "add"):
        for gate, state in body.sides(kept, "mul"):
            forget = body.argument(gate, "sigmoid")
            if state is not before or forget is None:
                continue
            for first, second in body.sides(added, "mul"):
                update, new = body.argument(first, "sigmoid"), body.argument(second, "tanh")
                if update is not None and new is not None:
                    return forget, update, new
    return None


def _one_sum(
    body: _Body, pieces: Sequence[tuple[Value, int] | None], output: Value, size: int
) -> tuple[_Sum, tuple[int, ...]] | None:
    """The sum that all gates are cut from, and which piece each of them is."""
    known = [piece for piece in pieces if piece is not None]
    if len(known) < len(pieces) or len({value for value, _ in known}) != 1:
        return None
    whole, order = known[0][0], tuple(place for _, place in known)
    if sorted(order) != list(range(len(pieces))) or whole.type.shape[1] != len(pieces) * size:
        return None
    total = body.sum_of(whole, output)
    return None if total is None else (total, order)


def _row(total: _Sum, size: int) -> Array:
    return np.broadcast_to(np.asarray(total.bias, np.float32), (size,))


def _ordered(array: Array, order: Sequence[int], size: int) -> Array:
    return np.ascontiguousarray(np.concatenate([array[place * size : (place + 1) * size] for place in order]))


def _gru(body: _Body) -> _Layer | None:
    """h = z * h + (1 - z) * tanh(xn + r * hn), where x and h have products and biases of their own."""
    places = [place for place in range(len(body.carried)) if body.is_state(place)]
    for place in places[:_MOST_STATES]:
        output = body.carried[place]
        for kept, added in body.sides(body.given[place], "add"):
            for keep, new in _gates_of_gru(body, kept, added, output):
                found = _gru_of(body, keep, new, place)
                if found is not None:
                    return found
    return None


def _gru_of(body: _Body, keep: Value, new: Value, place: int) -> _Layer | None:
    for mine, product in body.sides(new, "add"):
        for reset, theirs in body.sides(product, "mul"):
            gate = body.argument(reset, "sigmoid")
            found = None if gate is None else _both_sums(body, (keep, gate), (mine, theirs), place)
            if found is not None:
                return found
    return None


def _gates_of_gru(body: _Body, kept: Value, added: Value, output: Value) -> Iterator[tuple[Value, Value]]:
    """What goes into the gates z and n."""
    for gate, state in body.sides(kept, "mul"):
        keep = body.argument(gate, "sigmoid")
        for rest, fresh in body.sides(added, "mul"):
            node, new = body.made(rest, "sub"), body.argument(fresh, "tanh")
            if state is not output or keep is None or node is None or new is None or node.inputs[1] is not gate:
                continue
            one = node.inputs[0].constant
            if one is not None and np.all(one == 1):
                yield keep, new


def _both_sums(body: _Body, gates: tuple[Value, Value], new: tuple[Value, Value], state: int) -> _Layer | None:
    """Each gate is the sum of a piece of what the input gives and one of what the last output gives."""
    output = body.carried[state]
    size = output.type.shape[1]
    assert isinstance(size, int)
    inputs, outputs = [], []
    for gate in gates:
        for first, second in body.sides(gate, "add"):
            piece = body.piece(first, size)
            total = None if piece is None else body.sum_of(piece[0], output)
            if total is not None and set(total.weights) == {"x"}:
                inputs.append(piece)
                outputs.append(body.piece(second, size))
                break
    mine = _one_sum(body, [*inputs, body.piece(new[0], size)], output, size)
    theirs = _one_sum(body, [*outputs, body.piece(new[1], size)], output, size)
    if len(inputs) < len(gates) or mine is None or theirs is None or mine[1] != theirs[1]:
        return None
    (given, order), (held, _) = mine, theirs
    if set(given.weights) != {"x"} or set(held.weights) != {"h"} or given.sequence is None:
        return None
    kernel, recurrent = (_ordered(array, order, size) for array in (given.weights["x"], held.weights["h"]))
    outer, inner = (_ordered(_row(total, 3 * size), order, size) for total in (given, held))
    bias = outer + np.concatenate([inner[: 2 * size], np.zeros(size, np.float32)])
    op = Gru(function_f="sigmoid", linear_before_reset=True)
    return _Layer(op, given.sequence, kernel, bias, recurrent, (state,), inner[2 * size :].copy())
