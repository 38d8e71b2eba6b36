"""The quantised operators of ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.quantised_products import parameter, quantised_by_range, zero_of
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.spatial import (
    channels,
    fixed_pads,
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
    flat = [parameter(step, tensor) for tensor in parameters]
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
    return quantised_by_range(step, step.input(0))


# -- convolutions ------------------------------------------------------------------------------------------------------
def _convolved(step: Step, x: Tensor, filters: Tensor, op: str, around: Sequence[Sequence[Tensor]]) -> Tensor:
    """A convolution of quantised numbers; `around` are the inputs behind x and behind w."""
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
        pads=fixed_pads(step, pads_of(step, x, kernel, strides, dilations)),
        dilations=dilations,
        groups=step.integer("group", 1),
    )
    return from_channels_last(step, y, x.rank)


@handler("ConvInteger")
def convolution_of_integers(step: Step) -> Tensor:
    x_zero = zero_of(step, step.optional(2), step.input(0).dtype)
    w_zero = zero_of(step, step.optional(3), step.input(1).dtype)
    return _convolved(step, step.input(0), step.input(1), "conv_integer", ((), (x_zero, w_zero)))


@handler("QLinearConv")
def quantised_convolution(step: Step) -> Tensor:
    return quantised_convolution_of(step, step.input(0))


def quantised_convolution_of(step: Step, x: Tensor) -> Tensor:
    """The result of a QLinearConv on x with channels first."""
    bias = step.optional(8)
    behind = [parameter(step, step.input(index)) for index in (4, 5, 6, 7)]
    ahead = [parameter(step, step.input(index)) for index in (1, 2)]
    return _convolved(step, x, step.input(3), "qlinear_conv", (ahead, behind + ([] if bias is None else [bias])))


# -- matrix products ---------------------------------------------------------------------------------------------------
@handler("MatMulInteger")
def product_of_integers(step: Step) -> Tensor:
    a, b = step.input(0), step.input(1)
    return step.emit(
        "matmul_integer", a, b, zero_of(step, step.optional(2), a.dtype), zero_of(step, step.optional(3), b.dtype)
    )


@handler("QLinearMatMul")
def quantised_product(step: Step) -> Tensor:
    parameters = [step.input(index) if index in (0, 3) else parameter(step, step.input(index)) for index in range(8)]
    return step.emit("qlinear_matmul", *parameters)
