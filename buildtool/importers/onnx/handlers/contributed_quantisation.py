"""Quantised operators of com.microsoft.

What one computes is defined by the numbers that its operands stand for, so that it is imported as such: dequantised,
computed in single precision, quantised again. Those of dynamic quantisation add up integers.
"""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.handlers.quantisation import quantised_convolution_of
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.quantised_products import integer_product, parameter, quantised_by_range
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import (
    NO_ACTIVATION,
    channels_first,
    channels_last,
    fixed_pads,
    from_channels_last,
    per_axis,
    spatial_rank,
    to_channels_last,
)
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType


def _real(step: Step, first: int) -> Tensor:
    """The numbers that a quantised operand stands for; its scale and zero point are the inputs behind it."""
    return _real_of(step, step.input(first), step.input(first + 1), step.optional(first + 2))


def _real_of(step: Step, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Tensor:
    rest = () if zero_point is None else (parameter(step, zero_point),)
    return step.emit("dequantize_linear", x, parameter(step, scale), *rest, axis=0, block=0)


def _stored(step: Step, y: Tensor, first: int, dtype: DType) -> Tensor:
    """Quantised as the scale and zero point from input `first` say; without a zero point, to the type of x."""
    return _stored_as(step, y, step.input(first), step.optional(first + 1), dtype)


def _stored_as(step: Step, y: Tensor, scale: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    rest = () if zero_point is None else (parameter(step, zero_point),)
    return step.emit("quantize_linear", y, parameter(step, scale), *rest, axis=0, block=0, to=dtype)


@handler("com.microsoft.QLinearAdd")
def quantised_sum(step: Step) -> Tensor:
    y = step.emit("add", _real(step, 0), _real(step, 3), **NO_ACTIVATION)
    return _stored(step, y, 6, step.input(0).dtype)


@handler("com.microsoft.QLinearMul")
def quantised_element_product(step: Step) -> Tensor:
    return _stored(step, step.emit("mul", _real(step, 0), _real(step, 3)), 6, step.input(0).dtype)


@handler("com.microsoft.QLinearSigmoid")
def quantised_sigmoid(step: Step) -> Tensor:
    return _stored(step, step.emit("sigmoid", _real(step, 0)), 3, step.input(0).dtype)


@handler("com.microsoft.QLinearLeakyRelu")
def quantised_leaky_relu(step: Step) -> Tensor:
    y = step.emit("leaky_relu", _real(step, 0), alpha=step.real("alpha", 0.01))
    return _stored(step, y, 3, step.input(0).dtype)


@handler("com.microsoft.QLinearConcat")
def quantised_concat(step: Step) -> Tensor:
    """Inputs: scale and zero point of y, then x, scale and zero point of each operand."""
    operands = [_real(step, first) for first in range(2, len(step.inputs), 3)]
    if not operands:
        step.malformed("there is nothing to join")
    y = step.emit("concat", *operands, axis=step.axis(step.integer("axis"), operands[0].rank))
    return _stored(step, y, 0, step.input(2).dtype)


@handler("com.microsoft.QLinearGlobalAveragePool")
def quantised_global_average_pool(step: Step) -> Tensor:
    x = step.input(0)
    axes = tuple(range(1, x.rank - 1)) if step.integer("channels_last", 0) else tuple(range(2, x.rank))
    return _stored(step, step.emit("reduce_mean", _real(step, 0), axes=axes, keepdims=True), 3, x.dtype)


@handler("com.microsoft.QLinearReduceMean")
def quantised_mean(step: Step) -> Tensor:
    x = _real(step, 0)
    axes = step.axes(step.integers("axes", tuple(range(x.rank))), x.rank)
    y = step.emit("reduce_mean", x, axes=axes, keepdims=bool(step.integer("keepdims", 1)))
    return _stored(step, y, 3, step.input(0).dtype)


@handler("com.microsoft.QLinearAveragePool")
def quantised_average_pool(step: Step) -> Tensor:
    last = bool(step.integer("channels_last", 0))
    x = channels_first(step, _real(step, 0)) if last else _real(step, 0)
    rank = spatial_rank(step, x)
    kernel, strides = per_axis(step, "kernel_shape", rank), per_axis(step, "strides", rank)
    dilations = (1,) * len(kernel)
    y = step.emit(
        "avg_pool2d",
        to_channels_last(step, x),
        kernel=kernel,
        strides=strides,
        pads=fixed_pads(step, pads_of(step, x, kernel, strides, dilations)),
        dilations=dilations,
        ceil_mode=bool(step.integer("ceil_mode", 0)),
        count_include_pad=bool(step.integer("count_include_pad", 0)),
    )
    y = from_channels_last(step, y, x.rank)
    return _stored(step, channels_last(step, y) if last else y, 3, step.input(0).dtype)


@handler("com.microsoft.QLinearConv")
def quantised_convolution(step: Step) -> Tensor:
    """As that of ONNX, which has no channels last."""
    if not step.integer("channels_last", 0):
        return quantised_convolution_of(step, step.input(0))
    return channels_last(step, quantised_convolution_of(step, channels_first(step, step.input(0))))


@handler("com.microsoft.QLinearSoftmax")
def quantised_softmax(step: Step) -> Tensor:
    """Before version 13 all axes from the named one on are one."""
    x, new = _real(step, 0), step.integer("opset", 13) >= 13
    axis = step.axis(step.integer("axis", -1 if new else 1), x.rank)
    rows = x if new else step.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))
    y = step.reshape(step.emit("softmax", rows, axis=axis if new else 1), x.shape)
    return _stored(step, y, 3, step.input(0).dtype)


@handler("com.microsoft.QLinearWhere")
def quantised_choice(step: Step) -> Tensor:
    y = step.emit("where", step.input(0), _real(step, 1), _real(step, 4))
    return _stored(step, y, 7, step.input(1).dtype)


@handler("com.microsoft.QGemm")
def quantised_gemm(step: Step) -> Tensor:
    """Inputs: A, B and the sums C, with the scale of products; a scale and zero point of y, or y are real numbers."""
    across_a, across_b = bool(step.integer("transA", 0)), bool(step.integer("transB", 0))
    a, weights, of_weights = _real(step, 0), step.input(3), step.input(4)
    if a.rank != 2 or weights.rank != 2:
        step.malformed(f"its inputs have the ranks {a.rank} and {weights.rank}, not 2")
    zeros = step.optional(5)
    rest = () if zeros is None else (parameter(step, zeros),)
    row = parameter(step, of_weights)
    b = step.emit("dequantize_linear", weights, row, *rest, axis=0 if across_b or not row.rank else 1, block=0)
    y = step.emit("matmul", step.transpose(a, (1, 0)) if across_a else a, step.transpose(b, (1, 0)) if across_b else b)
    alpha, sums = step.real("alpha", 1.0), step.optional(6)
    if alpha != 1.0:
        y = step.emit("mul", y, step.constant(np.array(alpha, np.float32)))
    if sums is not None:
        scale = step.emit("mul", parameter(step, step.input(1)), row)
        if alpha != 1.0:
            scale = step.emit("mul", scale, step.constant(np.array(alpha, np.float32)))
        axis = sums.rank - 1 if scale.rank else 0
        y = step.emit("add", y, step.emit("dequantize_linear", sums, scale, axis=axis, block=0), **NO_ACTIVATION)
    return y if step.optional(7) is None else _stored(step, y, 7, step.input(0).dtype)


# -- dynamic quantisation ----------------------------------------------------------------------------------------------
@handler("com.microsoft.DynamicQuantizeMatMul")
def product_of_quantised_by_range(step: Step) -> Tensor:
    """Inputs: A as real numbers, B, scale and zero point of B, bias."""
    a, scale, zero = quantised_by_range(step, step.input(0))
    scales, zeros = (scale, step.input(2)), (zero, step.optional(3))
    return integer_product(step, a, step.input(1), scales, zeros, step.optional(4))


@handler("com.microsoft.MatMulIntegerToFloat")
def product_of_integers_to_real(step: Step) -> Tensor:
    """Inputs: A, B, scale of A, scale of B, zero point of A, zero point of B, bias."""
    scales, zeros = (step.input(2), step.input(3)), (step.optional(4), step.optional(5))
    if product(scales[0].shape) != 1:
        step.unsupported(f"a scale of A of the shape {list(scales[0].shape)}", "quantise A with one scale")
    return integer_product(step, step.input(0), step.input(1), scales, zeros, step.optional(6))
