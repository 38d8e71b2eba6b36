"""Quantised operators: those of ONNX, and what com.microsoft adds.

What a quantised operator of com.microsoft computes is defined by the numbers that its operands stand for, so that it is
imported as such: dequantised, computed in single precision, quantised again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.spatial import (
    NO_ACTIVATION,
    channels,
    from_channels_last,
    lifted,
    per_axis,
    spatial_rank,
    to_channels_last,
)
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import product
from buildtool.ir.types import DType

_RESULTS = (DType.S8, DType.U8, DType.S16, DType.U16)


def _parameter(step: Step, tensor: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    """A scale or zero point without axes of one element: one number, or one per row, column or channel."""
    if product(tensor.shape) == 1:
        return step.reshape(tensor, shape)
    return step.reshape(tensor, (product(tensor.shape),)) if tensor.rank > 1 else tensor


def _zero(step: Step, tensor: Tensor | None, dtype: DType) -> Tensor:
    return step.constant(np.zeros((), dtype.numpy)) if tensor is None else _parameter(step, tensor)


# -- QuantizeLinear, DequantizeLinear ----------------------------------------------------------------------------------
def _layout(step: Step, x: Tensor, parameters: Sequence[Tensor]) -> tuple[list[Tensor], dict[str, AttrValue]]:
    """Scale and zero point in the ranks that the graph has them in, and the attributes that lay them over x."""
    block, axis = step.integer("block_size", 0), step.integer("axis", 1)
    scale = parameters[0]
    if scale.rank == x.rank and (block or x.rank > 1) and product(scale.shape) != 1:
        axis = step.axis(axis, x.rank)
        return list(parameters), {"axis": axis, "block": block or _block(step, x, scale, axis)}
    if scale.rank > 1 and product(scale.shape) != 1:
        step.malformed(f"a scale of the shape {list(scale.shape)} for an input of the shape {list(x.shape)}")
    flat = [_parameter(step, tensor) for tensor in parameters]
    return flat, {"axis": step.axis(axis, x.rank) if flat[0].rank else 0, "block": 0}


def _block(step: Step, x: Tensor, scale: Tensor, axis: int) -> int:
    size, count = x.shape[axis], scale.shape[axis]
    if not isinstance(size, int) or not isinstance(count, int) or count < 1:
        step.unsupported("blocks of a run-time size", "state block_size in the model")
    return -(-size // count)


@handler("QuantizeLinear", "com.microsoft.QuantizeLinear")
def quantize(step: Step) -> Tensor:
    x, scale, zero_point = step.input(0), step.input(1), step.optional(2)
    if zero_point is not None:
        to = zero_point.dtype
    else:
        code = step.integer("output_dtype", 0)
        to = dtype_of_code(code, step.where) if code else DType.U8
    if to not in _RESULTS:
        step.unsupported(f"numbers quantised to {to.value}", "quantise the model to 8 or 16 bits")
    if not x.dtype.is_float:
        x = step.emit("cast", x, to=DType.F32)
    parameters, attributes = _layout(step, x, [scale] if zero_point is None else [scale, zero_point])
    return step.emit("quantize_linear", x, *parameters, to=to, **attributes)


@handler("DequantizeLinear", "com.microsoft.DequantizeLinear")
def dequantize(step: Step) -> Tensor:
    x, scale, zero_point = step.input(0), step.input(1), step.optional(2)
    parameters, attributes = _layout(step, x, [scale] if zero_point is None else [scale, zero_point])
    return step.emit("dequantize_linear", x, *parameters, **attributes)


@handler("DynamicQuantizeLinear")
def dynamic_quantize(step: Step) -> Sequence[Tensor]:
    """The range of x, with 0 in it, becomes 0..255. A range of one number has the scale 1, as in onnxruntime."""
    x = step.input(0)
    axes = tuple(range(x.rank))
    nothing, ones, most = (step.constant(np.array(number, np.float32)) for number in (0, 1, 255))
    low = step.emit("minimum", step.emit("reduce_min", x, axes=axes, keepdims=False), nothing)
    high = step.emit("maximum", step.emit("reduce_max", x, axes=axes, keepdims=False), nothing)
    spread = step.emit("sub", high, low)
    scale = step.emit("where", step.emit("equal", spread, nothing), ones, step.emit("div", spread, most))
    offset = step.emit("round", step.emit("sub", nothing, step.emit("div", low, scale)))
    zero_point = step.emit("cast", step.emit("clip", offset, low=0.0, high=255.0), to=DType.U8)
    return step.emit("quantize_linear", x, scale, zero_point, axis=0, block=0, to=DType.U8), scale, zero_point


# -- convolutions ------------------------------------------------------------------------------------------------------
def _convolved(step: Step, positions: tuple[int, int], op: str, around: Sequence[Sequence[Tensor]]) -> Tensor:
    """A convolution of quantised numbers; `around` are the inputs behind x and behind w."""
    x, filters = step.input(positions[0]), step.input(positions[1])
    rank = spatial_rank(step, x)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the input {x.rank}")
    sides = tuple(channels(step, filters, axis) for axis in range(2, filters.rank))
    kernel = lifted(sides, 1)
    filters = step.reshape(filters, (*filters.shape[:2], *kernel))
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    y = step.emit(
        op,
        to_channels_last(step, x),
        *around[0],
        step.transpose(filters, (0, 2, 3, 1)),
        *around[1],
        strides=strides,
        pads=pads_of(step, x, kernel, strides, dilations),
        dilations=dilations,
        groups=step.integer("group", 1),
    )
    return from_channels_last(step, y, x.rank)


@handler("ConvInteger")
def convolution_of_integers(step: Step) -> Tensor:
    x_zero = _zero(step, step.optional(2), step.input(0).dtype)
    w_zero = _zero(step, step.optional(3), step.input(1).dtype)
    return _convolved(step, (0, 1), "conv_integer", ((), (x_zero, w_zero)))


@handler("QLinearConv")
def quantised_convolution(step: Step) -> Tensor:
    bias = step.optional(8)
    behind = [_parameter(step, step.input(index)) for index in (4, 5, 6, 7)]
    ahead = [_parameter(step, step.input(index)) for index in (1, 2)]
    return _convolved(step, (0, 3), "qlinear_conv", (ahead, behind + ([] if bias is None else [bias])))


# -- matrix products ---------------------------------------------------------------------------------------------------
@handler("MatMulInteger")
def product_of_integers(step: Step) -> Tensor:
    a, b = step.input(0), step.input(1)
    return step.emit(
        "matmul_integer", a, b, _zero(step, step.optional(2), a.dtype), _zero(step, step.optional(3), b.dtype)
    )


@handler("QLinearMatMul")
def quantised_product(step: Step) -> Tensor:
    parameters = [step.input(index) if index in (0, 3) else _parameter(step, step.input(index)) for index in range(8)]
    return step.emit("qlinear_matmul", *parameters)


# -- com.microsoft -----------------------------------------------------------------------------------------------------
def _real(step: Step, first: int) -> Tensor:
    """The numbers that a quantised operand stands for; its scale and zero point are the inputs behind it."""
    return _real_of(step, step.input(first), step.input(first + 1), step.optional(first + 2))


def _real_of(step: Step, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Tensor:
    rest = () if zero_point is None else (_parameter(step, zero_point),)
    return step.emit("dequantize_linear", x, _parameter(step, scale), *rest, axis=0, block=0)


def _stored(step: Step, y: Tensor, first: int, dtype: DType) -> Tensor:
    """Quantised as the scale and zero point from input `first` say; without a zero point, to the type of x."""
    return _stored_as(step, y, step.input(first), step.optional(first + 1), dtype)


def _stored_as(step: Step, y: Tensor, scale: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    rest = () if zero_point is None else (_parameter(step, zero_point),)
    return step.emit("quantize_linear", y, _parameter(step, scale), *rest, axis=0, block=0, to=dtype)


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


@handler("com.microsoft.QLinearAveragePool")
def quantised_average_pool(step: Step) -> Tensor:
    x = step.input(0)
    if step.integer("channels_last", 0):
        step.unsupported("a quantised pool over channels-last images", "export the model with channels first")
    rank = spatial_rank(step, x)
    kernel, strides = per_axis(step, "kernel_shape", rank), per_axis(step, "strides", rank)
    dilations = (1,) * len(kernel)
    y = step.emit(
        "avg_pool2d",
        to_channels_last(step, _real(step, 0)),
        kernel=kernel,
        strides=strides,
        pads=pads_of(step, x, kernel, strides, dilations),
        dilations=dilations,
        ceil_mode=bool(step.integer("ceil_mode", 0)),
        count_include_pad=bool(step.integer("count_include_pad", 0)),
    )
    return _stored(step, from_channels_last(step, y, x.rank), 3, x.dtype)


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
    rest = () if zeros is None else (_parameter(step, zeros),)
    row = _parameter(step, of_weights)
    b = step.emit("dequantize_linear", weights, row, *rest, axis=0 if across_b or not row.rank else 1, block=0)
    y = step.emit("matmul", step.transpose(a, (1, 0)) if across_a else a, step.transpose(b, (1, 0)) if across_b else b)
    alpha, sums = step.real("alpha", 1.0), step.optional(6)
    if alpha != 1.0:
        y = step.emit("mul", y, step.constant(np.array(alpha, np.float32)))
    if sums is not None:
        scale = step.emit("mul", _parameter(step, step.input(1)), row)
        if alpha != 1.0:
            scale = step.emit("mul", scale, step.constant(np.array(alpha, np.float32)))
        axis = sums.rank - 1 if scale.rank else 0
        y = step.emit("add", y, step.emit("dequantize_linear", sums, scale, axis=axis, block=0), **NO_ACTIVATION)
    return y if step.optional(7) is None else _stored(step, y, 7, step.input(0).dtype)
