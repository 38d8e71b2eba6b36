"""Operators that work on each element of one tensor by itself."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one, wants
from buildtool.importers.paddle.values import (
    as_type,
    dtype_attribute,
    flag,
    is_channels_last,
    plus,
    real,
    scalar,
    swished,
)
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType

_UNARY = {name: name for name in ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh")} | {
    **{name: name for name in ("erf", "exp", "floor", "log", "mish", "reciprocal", "relu", "sigmoid")},
    **{name: name for name in ("sign", "sin", "sinh", "softsign", "sqrt", "tan", "tanh")},
    "silu": "swish",
    "negative": "neg",
    "isnan_v2": "is_nan",
    "logical_not": "logical_not",
    "bitwise_not": "bitwise_not",
}
_NOTHING = ("assign", "io_copy", "io_copy_once", "layout", "layout_once")
_LOGARITHMS = {"log2": 2.0, "log10": 10.0}


@handler(*_UNARY)
def unary(step: Step) -> Tensor:
    return step.emit(_UNARY[step.node.op], one(step, "X"))


@handler("round")
def rounded(step: Step) -> Tensor:
    """To so many places behind the point."""
    x, places = one(step, "X"), step.integer("decimals", 0)
    if not places:
        return step.emit("round", x)
    if not -30 <= places <= 30:
        step.unsupported(f"{places} decimals", "round to at most 30")
    factor = step.constant(np.array(10.0 ** abs(places), x.dtype.numpy))
    up, down = ("mul", "div") if places > 0 else ("div", "mul")
    return step.emit(down, step.emit("round", step.emit(up, x, factor)), factor)


@handler("isinf_v2")
def is_infinite(step: Step) -> Tensor:
    return step.emit("is_inf", one(step, "X"), negative=True, positive=True)


@handler("isfinite_v2")
def is_finite(step: Step) -> Tensor:
    x = one(step, "X")
    infinite = step.emit("is_inf", x, negative=True, positive=True)
    return step.emit("logical_not", step.emit("logical_or", infinite, step.emit("is_nan", x)))


@handler(*_NOTHING)
def nothing(step: Step) -> Tensor:
    return step.emit("identity", one(step, "Input" if maybe(step, "X") is None else "X"))


@handler("dropout")
def dropout(step: Step) -> Tensor:
    """On inference nothing, or a factor that older programs left to it."""
    x = one(step, "X")
    if step.text("dropout_implementation", "downgrade_in_infer") == "upscale_in_train":
        return step.emit("identity", x)
    return step.emit("mul", x, scalar(step, 1 - real(step, "dropout_prob", "Probability", 0.5), x))


@handler("cast")
def cast(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("cast", x, to=dtype_attribute(step, "out_dtype", x.dtype))


@handler("scale")
def scale(step: Step) -> Tensor:
    """x * scale + bias, or (x + bias) * scale."""
    x = one(step, "X")
    factor, offset = maybe(step, "ScaleTensor"), real(step, "bias", default=0.0)
    if factor is not None:
        factor = step.reshape(as_type(step, factor, x.dtype), ())
    elif real(step, "scale", default=1.0) != 1.0:
        factor = scalar(step, real(step, "scale", default=1.0), x)
    before = not flag(step, "bias_after_scale", True)
    y = x
    if offset and before:
        y = plus(step, y, scalar(step, offset, x))
    if factor is not None and (factor.content is None or factor.content != 1):
        y = step.emit("mul", y, factor)
    if offset and not before:
        y = plus(step, y, scalar(step, offset, x))
    if step.text("activation_type", ""):
        step.unsupported("an activation inside of 'scale'", "save the model without optimisations")
    return step.emit("identity", x) if y is x else y


@handler("increment")
def increment(step: Step) -> Tensor:
    x = one(step, "X")
    return plus(step, x, scalar(step, real(step, "step" if step.has("step") else "value", default=1.0), x))


@handler("square")
def square(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("mul", x, x)


@handler("rsqrt")
def reciprocal_root(step: Step) -> Tensor:
    return step.emit("reciprocal", step.emit("sqrt", one(step, "X")))


@handler("log1p", "expm1")
def near_one(step: Step) -> Tensor:
    x = one(step, "X")
    if step.node.op == "log1p":
        return step.emit("log", plus(step, x, scalar(step, 1, x)))
    return step.emit("sub", step.emit("exp", x), scalar(step, 1, x))


@handler(*_LOGARITHMS)
def logarithm(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("mul", step.emit("log", x), scalar(step, 1 / math.log(_LOGARITHMS[step.node.op]), x))


@handler("trunc")
def truncated(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("mul", step.emit("sign", x), step.emit("floor", step.emit("abs", x)))


@handler("relu6", "relu_clipped", "brelu")
def bounded(step: Step) -> Tensor:
    x = one(step, "X")
    if step.node.op == "brelu":
        return step.emit("clip", x, low=real(step, "t_min", default=0.0), high=real(step, "t_max", default=24.0))
    name = "threshold" if step.node.op == "relu6" else "Relu_clipped_coef"
    return step.emit("clip", x, low=0.0, high=real(step, name, default=6.0))


@handler("clip")
def clip(step: Step) -> Tensor:
    """Bounds that are only known at run time are a minimum and a maximum."""
    x = one(step, "X")
    low, high = maybe(step, "Min"), maybe(step, "Max")
    known = all(bound is None or bound.content is not None for bound in (low, high))
    if known:
        return step.emit("clip", x, low=real(step, "min", "Min"), high=real(step, "max", "Max"))
    y = x
    for op, bound, name in (("maximum", low, "min"), ("minimum", high, "max")):
        limit = scalar(step, real(step, name), x) if bound is None else as_type(step, bound, x.dtype)
        y = step.emit(op, y, step.reshape(limit, ()))
    return y


@handler("leaky_relu")
def leaky_relu(step: Step) -> Tensor:
    return step.emit("leaky_relu", one(step, "X"), alpha=real(step, "alpha", default=0.02))


@handler("elu", "celu")
def elu(step: Step) -> Tensor:
    return step.emit(step.node.op, one(step, "X"), alpha=real(step, "alpha", default=1.0))


@handler("selu")
def selu(step: Step) -> Tensor:
    gamma = real(step, "scale", default=1.0507009873554805)
    return step.emit("selu", one(step, "X"), alpha=real(step, "alpha", default=1.6732632423543772), gamma=gamma)


@handler("gelu")
def gelu(step: Step) -> Tensor:
    return step.emit("gelu", one(step, "X"), approximate="tanh" if flag(step, "approximate") else "none")


@handler("swish")
def swish(step: Step) -> Tensor:
    return swished(step, one(step, "X"), real(step, "beta", default=1.0))


@handler("hard_sigmoid")
def hard_sigmoid(step: Step) -> Tensor:
    slope, offset = real(step, "slope", default=0.2), real(step, "offset", default=0.5)
    return step.emit("hard_sigmoid", one(step, "X"), alpha=slope, beta=offset)


@handler("hard_swish")
def hard_swish(step: Step) -> Tensor:
    """x * clip(x + offset, 0, threshold) / scale."""
    x = one(step, "X")
    threshold, scale_, offset = (real(step, name, default=value) for name, value in _HARD_SWISH.items())
    if (threshold, scale_, offset) == tuple(_HARD_SWISH.values()):
        return step.emit("hard_swish", x)
    if scale_ == 0:
        step.malformed("the attribute 'scale' is 0")
    gate = step.emit("clip", plus(step, x, scalar(step, offset, x)), low=0.0, high=threshold)
    return step.emit("mul", step.emit("mul", x, gate), scalar(step, 1 / scale_, x))


_HARD_SWISH = {"threshold": 6.0, "scale": 6.0, "offset": 3.0}


@handler("softplus")
def softplus(step: Step) -> Tensor:
    """log(1 + exp(beta x)) / beta; beyond the threshold x itself, from which it hardly differs there."""
    x, beta = one(step, "X"), real(step, "beta", default=1.0)
    threshold = real(step, "threshold", default=20.0)
    if beta == 0:
        step.malformed("the attribute 'beta' is 0")
    grown = x if beta == 1.0 else step.emit("mul", x, scalar(step, beta, x))
    y = step.emit("softplus", grown)
    y = y if beta == 1.0 else step.emit("mul", y, scalar(step, 1 / beta, x))
    if threshold >= 15.0:
        return y
    return step.emit("where", step.emit("less", scalar(step, threshold, x), grown), x, y)


@handler("logsigmoid")
def log_sigmoid(step: Step) -> Tensor:
    return step.emit("neg", step.emit("softplus", step.emit("neg", one(step, "X"))))


@handler("tanh_shrink")
def tanh_shrink(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("sub", x, step.emit("tanh", x))


@handler("softshrink", "hard_shrink")
def shrink(step: Step) -> Tensor:
    soft = step.node.op == "softshrink"
    bound = real(step, "lambda" if soft else "threshold", default=0.5)
    return step.emit("shrink", one(step, "X"), bias=bound if soft else 0.0, lambd=bound)


@handler("thresholded_relu")
def thresholded_relu(step: Step) -> Tensor:
    if real(step, "value", default=0.0):
        step.unsupported("a value other than 0 below the threshold", "replace the operator when exporting")
    return step.emit("thresholded_relu", one(step, "X"), alpha=real(step, "threshold", default=1.0))


@handler("stanh")
def scaled_tanh(step: Step) -> Tensor:
    x = one(step, "X")
    inner = step.emit("tanh", step.emit("mul", x, scalar(step, real(step, "scale_a", default=0.67), x)))
    return step.emit("mul", inner, scalar(step, real(step, "scale_b", default=1.7159), x))


@handler("pow")
def power(step: Step) -> Tensor:
    x, factor = one(step, "X"), maybe(step, "FactorTensor")
    if factor is not None:
        return step.emit("pow", x, step.reshape(as_type(step, factor, x.dtype), ()))
    exponent = real(step, "factor", default=1.0)
    if exponent == 2.0:
        return step.emit("mul", x, x)
    return step.emit("pow", x, scalar(step, exponent, x))


@handler("power")
def shifted_power(step: Step) -> Tensor:
    """(scale * x + shift) ^ power, of Paddle-Lite."""
    x = one(step, "X")
    inner = step.emit("mul", x, scalar(step, real(step, "scale", default=1.0), x))
    inner = plus(step, inner, scalar(step, real(step, "shift", default=0.0), x))
    return step.emit("pow", inner, scalar(step, real(step, "power", default=1.0), x))


@handler("prelu")
def prelu(step: Step) -> Tensor:
    """One slope for all elements, for each channel, or for each element of a picture."""
    x, slope = one(step, "X"), one(step, "Alpha")
    match step.text("mode", "all"):
        case "all":
            return step.emit("prelu", x, step.reshape(slope, ()))
        case "channel" if x.rank > 1 and not is_channels_last(step):
            return step.emit("prelu", x, step.reshape(slope, (x.shape[1], *(1 for _ in range(x.rank - 2)))))
        case "channel":
            return step.emit("prelu", x, step.reshape(slope, (step.size(x, -1),)))
        case "element":
            return step.emit("prelu", x, step.reshape(slope, (1, *x.shape[1:])))
        case other:
            return step.malformed(f"the attribute 'mode' is '{other}'")


@handler("softmax", "log_softmax")
def softmax(step: Step) -> Tensor:
    x = one(step, "X")
    if x.rank == 0:
        return step.filled((), float(step.node.op == "softmax"), x.dtype)
    return step.emit(step.node.op, x, axis=step.axis(step.integer("axis", -1), x.rank))


@handler("cumsum")
def cumulative_sum(step: Step) -> Tensor:
    x = one(step, "X")
    flat = flag(step, "flatten")
    if flat:
        x = step.reshape(x, (product(x.shape),))
    stated = maybe(step, "AxisTensor")
    named = stated is not None or step.has("axis")
    axis = step.whole(real(step, "axis", "AxisTensor"), "axis") if named else -1
    axis = 0 if flat else step.axis(axis, x.rank)
    return step.emit("cumsum", x, axis=axis, exclusive=flag(step, "exclusive"), reverse=flag(step, "reverse"))


@handler("cumprod")
def cumulative_product(step: Step) -> Tensor:
    x = one(step, "X")
    axis = step.axis(step.integer("dim", -1), x.rank)
    return step.emit("cumprod", x, axis=axis, exclusive=flag(step, "exclusive"), reverse=flag(step, "reverse"))


@handler("maxout")
def maxout(step: Step) -> Tensor:
    """Of each group of neighbouring channels the largest."""
    x, groups = one(step, "X"), step.integer("groups")
    axis = step.axis(step.integer("axis", 1), x.rank)
    size = x.shape[axis]
    if not isinstance(size, int) or groups < 1 or size % groups:
        step.malformed(f"{size} channels in groups of {groups}")
    split = step.reshape(x, (*x.shape[:axis], size // groups, groups, *x.shape[axis + 1 :]))
    return step.emit("reduce_max", split, axes=(axis + 1,), keepdims=False)


@handler("calib", "calib_once")
def calibration(step: Step) -> Tensor:
    """Between floats and bytes, of Paddle-Lite; here everything is floats."""
    x = one(step, "Input")
    if x.dtype is DType.F32:
        return step.emit("identity", x)
    return step.emit(
        "mul", step.emit("cast", x, to=DType.F32), step.constant(np.array(real(step, "scale"), np.float32))
    )


@handler("norm")
def unit_length(step: Step) -> Outputs:
    """x over its length along an axis."""
    x = one(step, "X")
    axis = step.axis(step.integer("axis", -1), x.rank)
    squares = step.emit("reduce_sum", step.emit("mul", x, x), axes=(axis,), keepdims=True)
    length = step.emit("sqrt", plus(step, squares, scalar(step, real(step, "epsilon", default=1e-10), x)))
    outputs = {"Out": step.emit("div", x, length)}
    return {**outputs, "Norm": length} if wants(step, "Norm") else outputs
