"""Operators that work on each element by itself."""

from __future__ import annotations

import functools

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.composed import angle_of, floor_quotient, selected
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import element_type

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Inv": "reciprocal",
    "Invert": "bitwise_not",
    "IsNan": "is_nan",
    "Log": "log",
    "LogicalNot": "logical_not",
    "Neg": "neg",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Rint": "round",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}
_BINARY = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Div": "div",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Mul": "mul",
    "Pow": "pow",
    "RealDiv": "div",
    "Sub": "sub",
    "TruncateDiv": "div",
}
_COMPARISONS = {
    "Equal": ("equal", False, False),  # the operator, whether operands change places, whether it is denied
    "NotEqual": ("equal", False, True),
    "Less": ("less", False, False),
    "Greater": ("less", True, False),
    "LessEqual": ("less_equal", False, False),
    "GreaterEqual": ("less_equal", True, False),
}
_MODULI = {"FloorMod": False, "Mod": True, "TruncateMod": True}
_WHOLE_ALREADY = frozenset({"Ceil", "Floor", "Rint", "Round"})
_SELU_ALPHA, _SELU_GAMMA = 1.6732632423543772, 1.0507009873554805


@handler(*_UNARY)
def unary(step: Step) -> Tensor:
    x = step.input(0)
    if step.node.op in _WHOLE_ALREADY and not x.dtype.is_float:
        return x
    return step.emit(_UNARY[step.node.op], x)


@handler("Relu6")
def relu6(step: Step) -> Tensor:
    return step.emit("clip", step.input(0), low=0.0, high=6.0)


@handler("ClipByValue")
def clip(step: Step) -> Tensor:
    """Into bounds that are numbers, or tensors."""
    x, low, high = step.input(0), step.input(1), step.input(2)
    if low.content is not None and high.content is not None and low.content.size == high.content.size == 1:
        return step.emit("clip", x, low=float(low.content.reshape(-1)[0]), high=float(high.content.reshape(-1)[0]))
    return step.emit("maximum", step.emit("minimum", x, high), low)


@handler("Elu")
def elu(step: Step) -> Tensor:
    return step.emit("elu", step.input(0), alpha=1.0)


@handler("Selu")
def selu(step: Step) -> Tensor:
    return step.emit("selu", step.input(0), alpha=_SELU_ALPHA, gamma=_SELU_GAMMA)


@handler("LeakyRelu")
def leaky_relu(step: Step) -> Tensor:
    return step.emit("leaky_relu", step.input(0), alpha=step.real("alpha", 0.2))


@handler("Square")
def square(step: Step) -> Tensor:
    return step.emit("mul", step.input(0), step.input(0))


@handler("Rsqrt")
def reciprocal_root(step: Step) -> Tensor:
    return step.emit("reciprocal", step.emit("sqrt", step.input(0)))


@handler("Log1p")
def log_beyond_one(step: Step) -> Tensor:
    return step.emit("log", step.emit("add", step.input(0), _one(step), **NO_ACTIVATION))


@handler("Expm1")
def exp_beyond_one(step: Step) -> Tensor:
    return step.emit("sub", step.emit("exp", step.input(0)), _one(step))


@handler("Erfc")
def rest_of_erf(step: Step) -> Tensor:
    return step.emit("sub", _one(step), step.emit("erf", step.input(0)))


@handler("IsInf")
def is_infinite(step: Step) -> Tensor:
    return step.emit("is_inf", step.input(0), negative=True, positive=True)


@handler("IsFinite")
def is_finite(step: Step) -> Tensor:
    x = step.input(0)
    infinite = step.emit("is_inf", x, negative=True, positive=True)
    return step.emit("logical_not", step.emit("logical_or", infinite, step.emit("is_nan", x)))


def _one(step: Step) -> Tensor:
    return step.constant(np.array(1, step.input(0).dtype.numpy))


@handler("Cast")
def cast(step: Step) -> Tensor:
    x, wanted = step.input(0), element_type(step, "DstT")
    return x if x.dtype is wanted else step.emit("cast", x, to=wanted)


@handler("Bitcast")
def bitcast(step: Step) -> Tensor:
    return step.emit("bitcast", step.input(0), to=element_type(step, "type"))


# -- of two tensors ----------------------------------------------------------------------------------------------------
@handler("Add", "AddV2")
def add(step: Step) -> Tensor:
    return step.emit("add", step.input(0), step.input(1), **NO_ACTIVATION)


@handler(*_BINARY)
def binary(step: Step) -> Tensor:
    return step.emit(_BINARY[step.node.op], step.input(0), step.input(1))


@handler("AddN", "AccumulateNV2")
def total(step: Step) -> Tensor:
    return functools.reduce(lambda left, right: step.emit("add", left, right, **NO_ACTIVATION), step.present())


@handler("BiasAdd", "BiasAddV1")
def add_bias(step: Step) -> Tensor:
    x, bias = step.input(0), step.input(1)
    if step.text("data_format", "NHWC") in ("NCHW", "NCDHW") and x.rank > 2:
        bias = step.reshape(bias, (*bias.shape, *(1 for _ in range(x.rank - 2))))
    return step.emit("add", x, bias, **NO_ACTIVATION)


@handler("SquaredDifference")
def squared_difference(step: Step) -> Tensor:
    difference = step.emit("sub", step.input(0), step.input(1))
    return step.emit("mul", difference, difference)


@handler("DivNoNan")
def division_without_nan(step: Step) -> Tensor:
    """0 where the divisor is 0."""
    a, b = step.input(0), step.input(1)
    zero = step.constant(np.zeros((), b.dtype.numpy))
    return step.emit("where", step.emit("equal", b, zero), zero, step.emit("div", a, b))


@handler("FloorDiv")
def floor_division(step: Step) -> Tensor:
    return floor_quotient(step, step.input(0), step.input(1))


@handler(*_MODULI)
def modulo(step: Step) -> Tensor:
    """FloorMod has the sign of the divisor, the others that of what is divided."""
    return step.emit("mod", step.input(0), step.input(1), fmod=_MODULI[step.node.op])


@handler("Atan2")
def angle(step: Step) -> Tensor:
    return angle_of(step, step.input(0), step.input(1))


@handler(*_COMPARISONS)
def comparison(step: Step) -> Tensor:
    op, swapped, denied = _COMPARISONS[step.node.op]
    a, b = step.input(0), step.input(1)
    y = step.emit(op, b, a) if swapped else step.emit(op, a, b)
    return step.emit("logical_not", y) if denied else y


@handler("Select", "SelectV2")
def select(step: Step) -> Tensor:
    return selected(step, step.input(0), step.input(1), step.input(2), rows=step.node.op == "Select")


@handler("ZerosLike", "OnesLike")
def filled_alike(step: Step) -> Tensor:
    x, number = step.input(0), 0 if step.node.op == "ZerosLike" else 1
    return step.emit("broadcast_to", step.constant(np.array(number, x.dtype.numpy)), shape=x.shape)
