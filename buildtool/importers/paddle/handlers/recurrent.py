"""Recurrent layers: `rnn` with any number of layers and both directions, and single steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one
from buildtool.importers.paddle.values import flag, part, plus, scalar
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.types import DType

#: For each mode the operator, its functions, and the graph's order of gates by Paddle's.
_MODES: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "LSTM": ("lstm", ("sigmoid", "tanh", "tanh"), (0, 3, 1, 2)),
    "GRU": ("gru", ("sigmoid", "tanh"), (1, 0, 2)),
    "RNN_TANH": ("rnn", ("tanh",), (0,)),
    "RNN_RELU": ("rnn", ("relu",), (0,)),
}
_FUNCTIONS = ("identity", "sigmoid", "tanh", "relu")


@dataclass(frozen=True)
class _Layer:
    """The weights of one direction of one layer."""

    inputs: Tensor
    states: Tensor
    input_bias: Tensor
    state_bias: Tensor


@handler("rnn")
def rnn(step: Step) -> Outputs:
    """Weights of all layers and directions come first, then their biases."""
    mode = step.text("mode", "LSTM")
    if mode not in _MODES:
        step.malformed(f"the attribute 'mode' is '{mode}'")
    x, given = one(step, "Input"), many(step, "PreState")
    count, directions = step.integer("num_layers", 1), 2 if flag(step, "is_bidirec") else 1
    layers = _layers(step, count * directions)
    if len(given) != (2 if mode == "LSTM" else 1) or x.rank != 3:
        step.malformed(f"{len(given)} states and an input of rank {x.rank}")
    last: list[list[Tensor]] = [[] for _ in given]
    for number in range(count):
        made = []
        for direction in range(directions):
            place = number * directions + direction
            states = [step.reshape(part(step, item, 0, place, 1), item.shape[1:]) for item in given]
            y, *ends = _direction(step, mode, x, layers[place], states, direction == 1)
            made.append(y)
            for column, end in zip(last, ends, strict=True):
                column.append(step.reshape(end, (1, *end.shape)))
        x = made[0] if len(made) == 1 else step.emit("concat", *made, axis=2)
    states = [column[0] if len(column) == 1 else step.emit("concat", *column, axis=0) for column in last]
    return {"Out": x, "State": states}


def _layers(step: Step, count: int) -> list[_Layer]:
    tensors = many(step, "WeightList")
    if count < 1 or len(tensors) != 4 * count:
        step.malformed(f"{len(tensors)} weights for {count} layers and directions")
    weights, biases = tensors[: 2 * count], tensors[2 * count :]
    return [
        _Layer(weights[2 * index], weights[2 * index + 1], biases[2 * index], biases[2 * index + 1])
        for index in range(count)
    ]


def _reordered(step: Step, x: Tensor, order: Sequence[int], hidden: int) -> Tensor:
    """Rows of gates in the graph's order."""
    if len(order) == 1:
        return x
    parts = [part(step, x, 0, gate * hidden, hidden) for gate in order]
    return step.emit("concat", *parts, axis=0)


def _direction(
    step: Step, mode: str, x: Tensor, layer: _Layer, states: Sequence[Tensor], reverse: bool
) -> Sequence[Tensor]:
    op, functions, order = _MODES[mode]
    hidden = channels(step, layer.states, 1)
    inputs, recurrent, bias, inner = (
        _reordered(step, item, order, hidden)
        for item in (layer.inputs, layer.states, layer.input_bias, layer.state_bias)
    )
    rest: list[Tensor] = []
    if op == "gru":  # the candidate's own bias stands where the reset does
        own = part(step, inner, 0, 2 * hidden, hidden)
        zeros = step.filled((hidden,), 0, x.dtype)
        inner = step.emit("concat", part(step, inner, 0, 0, 2 * hidden), zeros, axis=0)
        rest.append(own)
    share = step.emit("fully_connected", x, inputs, plus(step, bias, inner), **NO_ACTIVATION)
    lengths = maybe(step, "SequenceLength")
    if lengths is not None:
        if op == "lstm":
            rest.append(step.filled((3 * hidden,), 0, x.dtype))
        rest.append(step.emit("cast", lengths, to=DType.S32))
    named = {f"function_{'fgh'[place]}": function for place, function in enumerate(functions)}
    more = {"linear_before_reset": True} if op == "gru" else {}
    return step.emit_all(op, share, recurrent, *states, *rest, reverse=reverse, **named, **more)


@handler("gru_unit")
def gru_unit(step: Step) -> Outputs:
    """One step. The weights of both gates and those of the candidate lie one behind the other."""
    x, h, weights, bias = one(step, "Input"), one(step, "HiddenPrev"), one(step, "Weight"), maybe(step, "Bias")
    hidden = channels(step, h, 1)
    flat = step.reshape(weights, (3 * hidden * hidden,))
    gates = step.reshape(part(step, flat, 0, 0, 2 * hidden * hidden), (hidden, 2 * hidden))
    candidate = step.reshape(part(step, flat, 0, 2 * hidden * hidden, hidden * hidden), (hidden, hidden))
    share = x if bias is None else plus(step, x, step.reshape(bias, (1, 3 * hidden)))
    both = plus(step, part(step, share, 1, 0, 2 * hidden), step.emit("matmul", h, gates))
    both = _function(step, both, "gate_activation", 1)
    update, reset = part(step, both, 1, 0, hidden), part(step, both, 1, hidden, hidden)
    kept = step.emit("mul", reset, h)
    new = plus(step, part(step, share, 1, 2 * hidden, hidden), step.emit("matmul", kept, candidate))
    new = _function(step, new, "activation", 2)
    y = _mixed(step, update, h, new) if flag(step, "origin_mode") else _mixed(step, update, new, h)
    return {"Hidden": y, "ResetHiddenPrev": kept, "Gate": step.emit("concat", both, new, axis=1)}


def _mixed(step: Step, share: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """share * a + (1 - share) * b."""
    return plus(step, step.emit("mul", share, step.emit("sub", a, b)), b)


def _function(step: Step, x: Tensor, name: str, default: int) -> Tensor:
    number = step.integer(name, default)
    if not 0 <= number < len(_FUNCTIONS):
        step.malformed(f"the attribute '{name}' is {number}")
    return x if number == 0 else step.emit(_FUNCTIONS[number], x)


@handler("lstm_unit")
def lstm_unit(step: Step) -> Outputs:
    """One step: gates i, f, o and the candidate."""
    x, before = one(step, "X"), one(step, "C_prev")
    hidden = channels(step, before, 1)
    i, f, o, new = step.emit_all("split", x, axis=1, sizes=(hidden,) * 4)
    f = plus(step, f, scalar(step, step.real("forget_bias", 0.0), f))
    kept = step.emit("mul", step.emit("sigmoid", f), before)
    c = plus(step, kept, step.emit("mul", step.emit("sigmoid", i), step.emit("tanh", new)))
    return {"C": c, "H": step.emit("mul", step.emit("sigmoid", o), step.emit("tanh", c))}
