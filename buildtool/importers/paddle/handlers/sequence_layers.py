"""Recurrent layers on sequences that stand one behind the other, as programs before Paddle 2 have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.handlers.sequences import segments
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one
from buildtool.importers.paddle.segments import Segments
from buildtool.importers.paddle.values import flag, part, plus
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType

_FUNCTIONS = ("sigmoid", "tanh", "relu")
_LSTM_GATES = (1, 3, 2, 0)  # the graph's i, o, f and c in Paddle's c, i, f, o


@handler("gru")
def gru(step: Step) -> Outputs:
    """The input's share of update, reset and candidate is there already; the weights of both gates come first."""
    x, weights, bias = one(step, "Input"), one(step, "Weight"), maybe(step, "Bias")
    hidden = channels(step, weights, 0)
    if x.rank != 2 or weights.shape != (hidden, 3 * hidden):
        step.malformed(f"weights {list(map(str, weights.shape))} for rows of rank {x.rank}")
    functions = step.text("gate_activation", "sigmoid"), step.text("activation", "tanh")
    if not set(functions) <= set(_FUNCTIONS) or functions[0] != "sigmoid":
        step.unsupported(f"the functions {functions}", "sigmoid for gates, and sigmoid, tanh or relu are supported")
    share = x if bias is None else plus(step, x, step.reshape(bias, (1, 3 * hidden)))
    flat = step.reshape(weights, (3 * hidden * hidden,))
    square = hidden * hidden
    gates = step.transpose(step.reshape(part(step, flat, 0, 0, 2 * square), (hidden, 2 * hidden)), (1, 0))
    candidate = step.reshape(part(step, flat, 0, 2 * square, square), (hidden, hidden))
    recurrent = step.emit("concat", gates, step.transpose(candidate, (1, 0)), axis=0)
    if not flag(step, "origin_mode"):  # the update says what is new, in the graph what is kept: 1 - s(x) is s(-x)
        signs = [-1.0] * hidden + [1.0] * (2 * hidden)
        share, recurrent = (
            _signed(step, share, signs, (1, 3 * hidden)),
            _signed(step, recurrent, signs, (3 * hidden, 1)),
        )
    start = _start(step, maybe(step, "H0"), x, hidden)
    operands = [recurrent, start, step.filled((hidden,), 0, x.dtype)]
    named: dict[str, AttrValue] = {"function_f": functions[0], "function_g": functions[1], "linear_before_reset": False}
    return {"Hidden": _walked(step, "gru", (x, share), operands, named)}


@handler("lstm")
def lstm(step: Step) -> Outputs:
    """The input's share of the candidate, i, f and o is there already; behind the biases come those of the cell."""
    x, weights, bias = one(step, "Input"), one(step, "Weight"), one(step, "Bias")
    hidden = channels(step, weights, 0)
    if x.rank != 2 or weights.shape != (hidden, 4 * hidden):
        step.malformed(f"weights {list(map(str, weights.shape))} for rows of rank {x.rank}")
    words = (("gate_activation", "sigmoid"), ("candidate_activation", "tanh"), ("cell_activation", "tanh"))
    functions = [step.text(name, default) for name, default in words]
    if not set(functions) <= set(_FUNCTIONS):
        step.unsupported(f"the functions {functions}", f"supported: {', '.join(_FUNCTIONS)}")
    sees = flag(step, "use_peepholes", True)
    if bias.shape != (1, (7 if sees else 4) * hidden):
        step.malformed(f"a bias {list(map(str, bias.shape))} for {hidden} cells")
    share = plus(step, x, part(step, bias, 1, 0, 4 * hidden))
    recurrent = step.transpose(_gates(step, weights, _LSTM_GATES, hidden), (1, 0))
    operands = [recurrent, *(_start(step, maybe(step, name), x, hidden) for name in ("H0", "C0"))]
    if sees:  # Paddle's i, f, o are the graph's i, o, f
        own = part(step, bias, 1, 4 * hidden, 3 * hidden)
        operands.append(step.reshape(_gates(step, own, (0, 2, 1), hidden), (3 * hidden,)))
    elif segments(step, x, "Input") is not None:
        operands.append(step.filled((3 * hidden,), 0, x.dtype))
    named = {f"function_{letter}": function for letter, function in zip("fgh", functions, strict=True)}
    share = _gates(step, share, _LSTM_GATES, hidden)
    return {"Hidden": _walked(step, "lstm", (x, share), operands, named)}


def _gates(step: Step, x: Tensor, order: Sequence[int], hidden: int) -> Tensor:
    """Columns of gates in another order."""
    return step.emit("concat", *(part(step, x, 1, gate * hidden, hidden) for gate in order), axis=1)


def _start(step: Step, given: Tensor | None, x: Tensor, hidden: int) -> Tensor:
    """The first state of each sequence."""
    if given is not None:
        return given
    sequences = segments(step, x, "Input")
    count: Dim = 1 if sequences is None else sequences.count
    return step.emit("broadcast_to", step.constant(np.zeros((), x.dtype.numpy)), shape=(count, hidden))


def _walked(
    step: Step, op: str, rows: tuple[Tensor, Tensor], operands: Sequence[Tensor], attributes: Mapping[str, AttrValue]
) -> Tensor:
    """The states behind each row. `rows`: those of the input, and its share."""
    x, share = rows
    sequences = segments(step, x, "Input")
    if sequences is None:
        steps = step.reshape(share, (x.shape[0], 1, share.shape[1]))
    else:
        steps = step.transpose(Segments(step, share, sequences.offsets).padded(x.shape[0])[0], (1, 0, 2))
        operands = [*operands, step.emit("cast", sequences.lengths, to=DType.S32)]
    y, *_ = step.emit_all(op, steps, *operands, reverse=flag(step, "is_reverse"), **attributes)
    if sequences is None:
        return step.reshape(y, (x.shape[0], y.shape[2]))
    return sequences.packed(step.transpose(y, (1, 0, 2)))


def _signed(step: Step, x: Tensor, signs: list[float], shape: tuple[int, int]) -> Tensor:
    if not x.dtype.is_float:
        step.malformed(f"its weights have the type {x.dtype.value}")
    return step.emit("mul", x, step.constant(np.array(signs, x.dtype.numpy).reshape(shape)))
