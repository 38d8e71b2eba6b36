"""Operators of one operand that go element by element."""

from __future__ import annotations

import math

import numpy as np

from buildtool.exporters.onnx.elements import code
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.types import DType

#: Operators that ONNX has under the name on the right, with attributes of the same names.
_SAME = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "bitwise_not": "BitwiseNot",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "det": "Det",
    "elu": "Elu",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "gelu": "Gelu",
    "hard_sigmoid": "HardSigmoid",
    "hard_swish": "HardSwish",
    "is_nan": "IsNaN",
    "leaky_relu": "LeakyRelu",
    "log": "Log",
    "logical_not": "Not",
    "mish": "Mish",
    "reciprocal": "Reciprocal",
    "round": "Round",
    "selu": "Selu",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "thresholded_relu": "ThresholdedRelu",
}


@handler(*_SAME)
def same(step: Step) -> None:
    step.give(step.compute(_SAME[step.op.name], step.input(0), **step.op.attributes()))


@handler("identity", "requantize")
def identity(step: Step) -> None:
    step.forms.share(step.node.outputs[0], step.value(0), tuple(range(step.value(0).type.rank)))


@handler("relu")
def relu(step: Step) -> None:
    unsigned = step.dtype in (DType.U8, DType.U16, DType.U32, DType.U64)
    step.give(step.emit("Identity" if unsigned else "Relu", step.input(0)))


@handler("neg")
def neg(step: Step) -> None:
    if step.dtype in (DType.U8, DType.U16, DType.U32, DType.U64):
        step.give(step.emit("Sub", step.number(0), step.input(0)))
    else:
        step.give(step.emit("Neg", step.input(0)))


@handler("clip")
def clip(step: Step) -> None:
    step.give(limited(step, step.input(0), step.op.low, step.op.high))


def limited(step: Step, name: str, low: float, high: float) -> str:
    """Clip with the bounds that do something; those of integers are rounded inwards."""
    dtype = step.node.outputs[0].type.dtype
    if dtype.is_integer:
        limits = np.iinfo(dtype.numpy.name)
        low = math.ceil(min(max(low, limits.min), limits.max))
        high = math.floor(min(max(high, limits.min), limits.max))
        wanted = low > limits.min, high < limits.max
    elif low == math.inf or high == -math.inf:
        wanted = True, True
    else:
        wanted = math.isfinite(low), math.isfinite(high)
    bounds = [step.number(bound, dtype) if one else "" for bound, one in zip((low, high), wanted, strict=True)]
    return step.emit("Clip", name, *bounds)


@handler("celu")
def celu(step: Step) -> None:
    x, alpha = step.input(0), step.op.alpha
    if step.dtype is DType.F32 and alpha > 0:
        step.give(step.emit("Celu", x, alpha=alpha))
    elif alpha > 0:  # Celu takes single precision only
        scaled = step.emit("Elu", step.emit("Div", x, step.number(alpha)), alpha=1.0)
        step.give(step.emit("Mul", scaled, step.number(alpha)))
    else:
        power = step.emit("Exp", step.emit("Div", x, step.number(alpha)))
        below = step.emit("Mul", step.emit("Sub", power, step.number(1)), step.number(alpha))
        step.give(step.emit("Where", step.emit("Less", x, step.number(0)), below, x))


@handler("swish")
def swish(step: Step) -> None:
    x = step.input(0)
    step.give(step.emit("Mul", x, step.emit("Sigmoid", x)))


@handler("shrink")
def shrink(step: Step) -> None:
    step.give(step.emit("Shrink", step.input(0), lambd=step.op.lambd, bias=step.op.bias))


@handler("is_inf")
def is_inf(step: Step) -> None:
    negative, positive = int(step.op.negative), int(step.op.positive)
    step.give(step.emit("IsInf", step.input(0), detect_negative=negative, detect_positive=positive))


@handler("cast")
def cast(step: Step) -> None:
    step.give(step.cast(step.input(0), step.op.to))


@handler("bitcast")
def bitcast(step: Step) -> None:
    if step.op.to is step.dtype:
        step.give(step.emit("Identity", step.input(0)))
    elif step.op.to.is_integer and step.dtype.is_integer:  # of one size: the same bits
        step.give(step.cast(step.input(0), step.op.to))
    else:
        step.give(step.emit("BitCast", step.input(0), to=code(step.op.to)))
