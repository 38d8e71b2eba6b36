"""Operators on sequences of different lengths, which stand one behind the other in a tensor.

Tensors have no lengths here: the rows of a tensor are one sequence.
"""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one
from buildtool.importers.paddle.values import flag, part, plus, scalar
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import product

_POOLS = {"SUM": "reduce_sum", "AVERAGE": "reduce_mean", "MAX": "reduce_max", "SQRT": "reduce_sum"}
_FUNCTIONS = ("sigmoid", "tanh", "relu")


@handler("lod_reset")
def lengths_are_set(step: Step) -> Outputs:
    return {"Out": step.emit("identity", one(step, "X"))}


@handler("sequence_softmax")
def softmax(step: Step) -> Tensor:
    x = one(step, "X")
    flat = step.reshape(x, (product(x.shape),))
    return step.reshape(step.emit("softmax", flat, axis=0), x.shape)


@handler("sequence_reverse")
def reverse(step: Step) -> Outputs:
    x = one(step, "X")
    starts, steps = (x.shape[0] - 1, *(0 for _ in x.shape[1:])), (-1, *(1 for _ in x.shape[1:]))
    return {"Y": step.emit("slice", x, starts=starts, steps=steps, sizes=x.shape)}


@handler("sequence_pool")
def pool(step: Step) -> Outputs:
    x, kind = one(step, "X"), step.text("pooltype", "AVERAGE")
    rows = x.shape[0]
    if kind in ("FIRST", "LAST"):
        return {"Out": part(step, x, 0, 0 if kind == "FIRST" else rows - 1, 1)}
    if kind not in _POOLS:
        step.malformed(f"the attribute 'pooltype' is '{kind}'")
    y = step.emit(_POOLS[kind], x, axes=(0,), keepdims=True)
    if kind == "SQRT":
        if not isinstance(rows, int):
            step.unsupported("the root of a run-time length", "fix the input shapes")
        y = step.emit("mul", y, scalar(step, rows**-0.5, y))
    return {"Out": y}


@handler("sequence_concat")
def concat(step: Step) -> Tensor:
    parts = many(step, "X")
    return parts[0] if len(parts) == 1 else step.emit("concat", *parts, axis=0)


@handler("sequence_expand", "sequence_expand_as")
def expand(step: Step) -> Tensor:
    """A row for each row of the other sequence; several rows stay as they are, since they are one sequence."""
    x, like = one(step, "X"), one(step, "Y")
    if x.shape[0] != 1:
        step.unsupported(f"{x.shape[0]} sequences", "import the model with a batch of one")
    return step.emit("broadcast_to", x, shape=(like.shape[0], *x.shape[1:]))


@handler("sequence_reshape")
def reshape(step: Step) -> Tensor:
    x, width = one(step, "X"), step.integer("new_dim")
    if width < 1:
        step.malformed(f"rows of {width} numbers")
    return step.reshape(x, (product(x.shape) // width, width))


@handler("gru")
def gru(step: Step) -> Outputs:
    """The input's share of update, reset and candidate is there already; the weights of both gates come first."""
    x, weights, bias, first = one(step, "Input"), one(step, "Weight"), maybe(step, "Bias"), maybe(step, "H0")
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
    start = step.filled((1, hidden), 0, x.dtype) if first is None else first
    y, _ = step.emit_all(
        "gru",
        step.reshape(share, (x.shape[0], 1, 3 * hidden)),
        recurrent,
        start,
        step.filled((hidden,), 0, x.dtype),
        function_f=functions[0],
        function_g=functions[1],
        reverse=flag(step, "is_reverse"),
        linear_before_reset=False,
    )
    return {"Hidden": step.reshape(y, (x.shape[0], hidden))}


def _signed(step: Step, x: Tensor, signs: list[float], shape: tuple[int, int]) -> Tensor:
    return step.emit("mul", x, step.constant(np.array(signs, x.dtype.numpy).reshape(shape)))
