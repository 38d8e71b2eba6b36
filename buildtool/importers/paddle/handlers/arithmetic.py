"""Operators on two or more tensors, element by element."""

from __future__ import annotations

import functools

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import evaluator, handler, many, one
from buildtool.importers.paddle.values import activated, plus, scalar
from buildtool.importers.size_arithmetic import combined, compared
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_OPERATORS = {
    "elementwise_add": "add",
    "elementwise_sub": "sub",
    "elementwise_mul": "mul",
    "elementwise_div": "div",
    "elementwise_max": "maximum",
    "elementwise_min": "minimum",
    "elementwise_fmax": "maximum",
    "elementwise_fmin": "minimum",
    "elementwise_pow": "pow",
}
#: Paddle-Lite's, with an activation behind them.
_FUSED = {
    f"fusion_elementwise_{op}_activation": _OPERATORS[f"elementwise_{op}"] for op in ("add", "sub", "mul", "div", "max")
}
_WHOLE = _OPERATORS | {"elementwise_mod": "mod", "elementwise_floordiv": "floor_div"}
_COMPARISONS = {
    "equal": ("equal", False, False),  # the operator, whether operands change places, whether it is denied
    "not_equal": ("equal", False, True),
    "less_than": ("less", False, False),
    "greater_than": ("less", True, False),
    "less_equal": ("less_equal", False, False),
    "greater_equal": ("less_equal", True, False),
}
_LOGIC = ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")


def operands(step: Step) -> tuple[Tensor, Tensor]:
    """X and Y, of which the one with fewer axes begins at `axis` of the other."""
    x, y = one(step, "X"), one(step, "Y")
    axis = step.integer("axis", -1)
    if axis == -1 or x.rank == y.rank:
        return x, y
    if y.rank < x.rank:
        return x, _placed(step, y, x.rank, axis)
    return _placed(step, x, y.rank, axis), y


def _placed(step: Step, small: Tensor, rank: int, axis: int) -> Tensor:
    shape = small.shape
    while shape and axis + len(shape) > rank and shape[-1] == 1:
        shape = shape[:-1]
    behind = rank - axis - len(shape)
    if axis < 0 or behind < 0:
        step.malformed(f"a tensor {list(map(str, small.shape))} at axis {axis} of {rank}")
    return step.reshape(small, (*shape, *(1 for _ in range(behind))))


@evaluator(*_WHOLE)
def whole_numbers(step: Step) -> Tensor | None:
    if one(step, "X").rank > 1 or one(step, "Y").rank > 1:
        return None
    return combined(step, _WHOLE[step.node.op])


@evaluator("equal", "less_than", "greater_than", "less_equal", "greater_equal")
def comparison_of_sizes(step: Step) -> Tensor | None:
    return compared(step, step.node.op.removesuffix("_than"))


@handler(*_OPERATORS, *_FUSED)
def binary(step: Step) -> Tensor:
    name = step.node.op
    x, y = operands(step)
    op = _OPERATORS.get(name) or _FUSED[name]
    more = NO_ACTIVATION if op == "add" else {}
    z = step.emit(op, x, y, **more)
    return activated(step, z, step.text("act_type", "")) if name in _FUSED else z


@handler("elementwise_mod")
def modulo(step: Step) -> Tensor:
    return step.emit("mod", *operands(step), fmod=False)


@handler("elementwise_floordiv")
def floor_division(step: Step) -> Tensor:
    """Of whole numbers: what is left when the remainder, which has the sign of the divisor, is taken off."""
    x, y = operands(step)
    if x.dtype.is_float:
        return step.emit("floor", step.emit("div", x, y))
    return step.emit("div", step.emit("sub", x, step.emit("mod", x, y, fmod=False)), y)


@handler(*_COMPARISONS)
def comparison(step: Step) -> Tensor:
    op, swapped, denied = _COMPARISONS[step.node.op]
    x, y = operands(step)
    z = step.emit(op, y, x) if swapped else step.emit(op, x, y)
    return step.emit("logical_not", z) if denied else z


@handler(*_LOGIC)
def logic(step: Step) -> Tensor:
    x, y = operands(step)
    op = step.node.op
    if x.dtype is DType.BOOL:
        op = op.replace("bitwise", "logical")
    return step.emit(op, x, y)


@handler("sum")
def total(step: Step) -> Tensor:
    tensors = many(step, "X")
    if not tensors:
        step.malformed("it has no inputs")
    if len(tensors) == 1:
        return step.emit("identity", tensors[0])
    return functools.reduce(lambda left, right: plus(step, left, right), tensors)


@handler("axpy")
def axpy(step: Step) -> Tensor:
    """A * X + Y; A has one number for each channel of each picture."""
    a, x = one(step, "Scale"), one(step, "X")
    a = step.reshape(a, (*x.shape[:2], *(1 for _ in range(x.rank - 2))))
    return plus(step, step.emit("mul", x, a), one(step, "Bias"))


@handler("where")
def where(step: Step) -> Tensor:
    return step.emit("where", one(step, "Condition"), one(step, "X"), one(step, "Y"))


@handler("atan2")
def angle(step: Step) -> Tensor:
    """The angle of the point (x, y): that of y / x, turned by half a circle where x is below 0."""
    y, x = one(step, "X1"), one(step, "X2")
    zero, half, quarter = (scalar(step, number, x) for number in (0, np.pi, np.pi / 2))
    below = step.emit("less", y, zero)
    turn = step.emit("where", below, step.emit("neg", half), half)
    slope = step.emit("atan", step.emit("div", y, x))
    left = step.emit("where", step.emit("less", x, zero), plus(step, slope, turn), slope)
    upright = step.emit("where", below, step.emit("neg", quarter), quarter)
    upright = step.emit("where", step.emit("equal", y, zero), zero, upright)
    return step.emit("where", step.emit("equal", x, zero), upright, left)


@handler("affine_channel")
def affine_channel(step: Step) -> Tensor:
    x = one(step, "X")
    last = step.text("data_layout", "NCHW") == "NHWC"
    behind = 0 if last else x.rank - 2
    shape = (step.size(x, -1 if last else 1), *(1 for _ in range(behind)))
    y = step.emit("mul", x, step.reshape(one(step, "Scale"), shape))
    return plus(step, y, step.reshape(one(step, "Bias"), shape))
