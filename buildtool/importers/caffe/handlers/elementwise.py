"""Layers that work on each element by itself, and sums, products and the like of several blobs."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import axis_of, blob, bottoms, row
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_UNARY = {"AbsVal": "abs", "BNLL": "softplus", "Sigmoid": "sigmoid", "TanH": "tanh"}
_JOINED = {"PROD": "mul", "MAX": "maximum", "MIN": "minimum", "DIV": "div"}


@handler(*_UNARY)
def unary(step: Step) -> Tensor:
    return step.emit(_UNARY[step.node.op], step.input(0))


@handler("ReLU")
def relu(step: Step) -> Tensor:
    slope = step.real("negative_slope", 0.0)
    return step.emit("leaky_relu", step.input(0), alpha=slope) if slope else step.emit("relu", step.input(0))


@handler("ReLU6")
def relu6(step: Step) -> Tensor:
    return step.emit("clip", step.input(0), low=0.0, high=step.real("threshold", 6.0))


@handler("Clip")
def clip(step: Step) -> Tensor:
    return step.emit("clip", step.input(0), low=step.real("min"), high=step.real("max"))


@handler("PReLU")
def prelu(step: Step) -> Tensor:
    x = step.input(0)
    if step.integer("channel_shared", 0):
        return step.emit("prelu", x, row(step, 0, "slope", 1))
    count = channels(step, x)
    slope = row(step, 0, "slopes", count)
    return step.emit("prelu", x, step.reshape(slope, (count, *(1 for _ in x.shape[2:]))))


@handler("ELU")
def elu(step: Step) -> Tensor:
    return step.emit("elu", step.input(0), alpha=step.real("alpha", 1.0))


@handler("Swish")
def swish(step: Step) -> Tensor:
    x, beta = step.input(0), step.real("beta", 1.0)
    if beta == 1.0:
        return step.emit("swish", x)
    return step.emit("mul", x, step.emit("sigmoid", _scaled(step, x, beta, 0.0)))


@handler("Power")
def power(step: Step) -> Tensor:
    """(shift + scale * x) ** power"""
    exponent = step.real("power", 1.0)
    base = _scaled(step, step.input(0), step.real("scale", 1.0), step.real("shift", 0.0))
    if exponent == 1.0:
        return base
    if exponent == 2.0:
        return step.emit("mul", base, base)
    return step.emit("pow", base, _number(step, exponent))


@handler("Exp")
def exp(step: Step) -> Tensor:
    """base ** (shift + scale * x); without a base it is e."""
    factor = _logarithm(step)
    x = _scaled(step, step.input(0), factor * step.real("scale", 1.0), factor * step.real("shift", 0.0))
    return step.emit("exp", x)


@handler("Log")
def log(step: Step) -> Tensor:
    """The logarithm of shift + scale * x."""
    y = step.emit("log", _scaled(step, step.input(0), step.real("scale", 1.0), step.real("shift", 0.0)))
    return _scaled(step, y, 1.0 / _logarithm(step), 0.0)


def _logarithm(step: Step) -> float:
    """That of the base; -1 stands for e."""
    base = step.real("base", -1.0)
    if base == -1.0:
        return 1.0
    if not 0.0 < base < math.inf or base == 1.0:
        step.malformed(f"the base of powers is {base}")
    return math.log(base)


def _number(step: Step, value: float) -> Tensor:
    return step.constant(np.array(value, np.float32))


def _scaled(step: Step, x: Tensor, scale: float, shift: float) -> Tensor:
    if scale != 1.0:
        x = step.emit("mul", x, _number(step, scale))
    return step.emit("add", x, _number(step, shift), **NO_ACTIVATION) if shift else x


@handler("Threshold")
def threshold(step: Step) -> Tensor:
    above = step.emit("less", _number(step, step.real("threshold", 0.0)), step.input(0))
    return step.emit("cast", above, to=DType.F32)


@handler("Dropout", "Split")
def unchanged(step: Step) -> Sequence[Tensor]:
    return [step.emit("identity", step.input(0)) for _ in step.node.outputs]


# -- of several blobs --------------------------------------------------------------------------------------------------
@handler("Eltwise")
def eltwise(step: Step) -> Tensor:
    tensors, operation = bottoms(step), step.text("operation", "SUM")
    coefficients = step.reals("coeff", [])
    if operation not in ("SUM", *_JOINED):
        step.malformed(f"the attribute 'operation' is '{operation}'")
    if operation != "SUM":
        if coefficients:
            step.malformed(f"coefficients for {operation}")
        return functools.reduce(lambda left, right: step.emit(_JOINED[operation], left, right), tensors)
    if coefficients and len(coefficients) != len(tensors):
        step.malformed(f"{len(coefficients)} coefficients for {len(tensors)} bottoms")
    scaled = [_scaled(step, x, factor, 0.0) for x, factor in zip(tensors, coefficients, strict=False)]
    return _total(step, scaled or tensors)


@handler("Add")
def add(step: Step) -> Tensor:
    return _total(step, bottoms(step))


def _total(step: Step, tensors: Sequence[Tensor]) -> Tensor:
    return functools.reduce(lambda left, right: step.emit("add", left, right, **NO_ACTIVATION), tensors)


@handler("Scale")
def scale(step: Step) -> Tensor:
    """The factor is a blob, or another bottom; behind it may stand a bias."""
    x = step.input(0)
    given = len(bottoms(step)) > 1
    y = step.emit("mul", x, _spread(step, x, step.input(1) if given else blob(step, 0, "scale"), given))
    if not step.integer("bias_term", 0):
        return y
    bias = _spread(step, x, blob(step, 0 if given else 1, "bias"), given)
    return step.emit("add", y, bias, **NO_ACTIVATION)


@handler("Bias")
def bias(step: Step) -> Tensor:
    x = step.input(0)
    given = len(bottoms(step)) > 1
    added = _spread(step, x, step.input(1) if given else blob(step, 0, "bias"), given)
    return step.emit("add", x, added, **NO_ACTIVATION)


def _spread(step: Step, x: Tensor, factor: Tensor, given: bool) -> Tensor:
    """A factor for the axes from `axis` on, as a tensor that broadcasts: its last axis is the last of x."""
    if given:
        covered = step.inputs[1]
        assert covered is not None
        axis = axis_of(step, x) if covered.rank else 0
        count = covered.rank
    else:
        axis = axis_of(step, x)
        count = step.integer("num_axes", 1)
        count = x.rank - axis if count == -1 else count
    if count < 0 or axis + count > x.rank:
        step.malformed(f"{count} axes from axis {axis} on, of a blob of rank {x.rank}")
    shape = (*x.shape[axis : axis + count], *(1 for _ in range(x.rank - axis - count)))
    return step.reshape(factor, shape)
