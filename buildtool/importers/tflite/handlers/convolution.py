"""Convolutions: plain, depthwise and transposed ones, of floats and of quantised bytes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels, fixed_pads
from buildtool.importers.step import Step
from buildtool.importers.tflite.custom_options import integers
from buildtool.importers.tflite.integer_shorts import keep_product
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import (
    activated,
    activated_bytes,
    activation,
    is_of_bytes,
    optional_real,
    output_quantisation,
    pads,
    parameters,
    positive_pair,
    quantisation,
    real,
    stored,
)
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim
from buildtool.ir.types import QuantType


@handler("CONV_2D")
def convolution(step: Step) -> Tensor:
    x, filters = _operands(step, 0, 1)
    kernel = channels(step, filters, 1), channels(step, filters, 2)
    groups = _groups(step, x, filters)
    window = _window(step, x, kernel)
    if is_of_bytes(step, 0, 1, 2):
        return _of_bytes(step, filters, quantisation(step, 1), groups, window)
    y = windowed(step, "conv2d", real(step, 0), *_weights(step), groups=groups, **window, **NO_ACTIVATION)
    y = stored(step, activated(step, y))
    keep_product(step, y, "conv16", window)
    return y


@handler("DEPTHWISE_CONV_2D")
def depthwise_convolution(step: Step) -> Tensor:
    x, filters = _operands(step, 0, 1)
    deep, made = channels(step, x, 3), channels(step, filters, 3)
    if filters.shape[0] != 1 or made % deep:
        step.malformed(f"a filter {list(filters.shape)} for {deep} channels")
    kernel = channels(step, filters, 1), channels(step, filters, 2)
    window = _window(step, x, kernel)
    if is_of_bytes(step, 0, 1, 2):
        quant = quantisation(step, 1)
        assert quant is not None
        along = None if quant.axis is None else 0
        turned = step.transpose(filters, (3, 1, 2, 0))
        return _of_bytes(step, turned, QuantType(quant.scales, quant.zero_points, along), deep, window)
    weights, *bias = _weights(step)
    flat = step.reshape(weights, (*kernel, made))
    y = windowed(step, "dwconv2d", real(step, 0), flat, *bias, multiplier=made // deep, **window, **NO_ACTIVATION)
    y = stored(step, activated(step, y))
    keep_product(step, y, "depthwise16", window)
    return y


def _operands(step: Step, x: int, filters: int) -> tuple[Tensor, Tensor]:
    image, weights = step.input(x), step.input(filters)
    if image.rank != 4 or weights.rank != 4:
        step.malformed(f"the image has rank {image.rank}, the filter {weights.rank}, not 4")
    return image, weights


def _groups(step: Step, x: Tensor, filters: Tensor) -> int:
    deep, seen, made = channels(step, x, 3), channels(step, filters, 3), channels(step, filters, 0)
    if deep % seen or made % (deep // seen):
        step.malformed(f"a filter {list(filters.shape)} for {deep} channels")
    return deep // seen


def _weights(step: Step) -> tuple[Tensor, ...]:
    """Filter and bias as real numbers."""
    bias = optional_real(step, 2)
    return (real(step, 1),) if bias is None else (real(step, 1), bias)


def _window(step: Step, x: Tensor, kernel: tuple[int, int]) -> dict[str, AttrValue]:
    strides = positive_pair(step, "stride_h", "stride_w")
    dilations = (1, 1)
    if step.has("dilation_h_factor"):
        dilations = positive_pair(step, "dilation_h_factor", "dilation_w_factor")
    return {
        "strides": strides,
        "pads": pads(step, x.shape[1:3], kernel, strides, dilations),
        "dilations": dilations,
    }


def _of_bytes(
    step: Step, filters: Tensor, quant: QuantType | None, groups: int, window: dict[str, AttrValue]
) -> Tensor:
    x, of_x, of_y = step.input(0), quantisation(step, 0), output_quantisation(step)
    bias = step.optional(2)
    assert of_x is not None and of_y is not None and quant is not None
    y = step.emit(
        "qlinear_conv",
        x,
        *parameters(step, of_x, x.dtype),
        filters,
        *parameters(step, quant, filters.dtype),
        *parameters(step, of_y, step.made_dtype(0)),
        *(() if bias is None else (bias,)),
        groups=groups,
        **{**window, "pads": fixed_pads(step, window["pads"])},
    )
    return activated_bytes(step, y)


@handler("TRANSPOSE_CONV")
def transposed_convolution(step: Step) -> Tensor:
    """Inputs: shape of the output, filter [O, H, W, I], image, bias."""
    x, filters = _operands(step, 2, 1)
    shape = step.known_dims(0, "output shape")
    if len(shape) != 4:
        step.malformed(f"the shape of its output has {len(shape)} sizes, not 4")
    strides = positive_pair(step, "stride_h", "stride_w")
    before, after, extra = [], [], []
    for axis, stride in enumerate(strides):
        total = _cut(step, x.shape[1 + axis], stride, channels(step, filters, 1 + axis), shape[1 + axis])
        before.append(max(total, 0) // 2)
        after.append(max(total, 0) - max(total, 0) // 2)
        extra.append(max(-total, 0))
    y = _transposed(step, real(step, 2), real(step, 1), optional_real(step, 3), strides, (*before, *after), extra)
    return stored(step, activated(step, y))


@handler("CONV_3D_TRANSPOSE")
def transposed_convolution_in_space(step: Step) -> Tensor:
    """Inputs: shape of the output, filter [D, H, W, O, I], image, bias."""
    x, filters = real(step, 2), real(step, 1)
    shape = step.known_dims(0, "output shape")
    if x.rank != 5 or filters.rank != 5 or len(shape) != 5:
        step.malformed(f"image, filter and output have ranks {x.rank}, {filters.rank} and {len(shape)}, not 5")
    strides, dilations = _steps_in_space(step)
    before, after, extra = [], [], []
    for axis, (stride, dilation) in enumerate(zip(strides, dilations, strict=True)):
        side = (channels(step, filters, axis) - 1) * dilation + 1
        total = _cut(step, x.shape[1 + axis], stride, side, shape[1 + axis])
        before.append(max(total, 0) // 2)
        after.append(max(total, 0) - max(total, 0) // 2)
        extra.append(max(-total, 0))
    turned = step.transpose(filters, (3, 0, 1, 2, 4))
    y = _transposed(step, x, turned, optional_real(step, 3), strides, (*before, *after), extra, dilations)
    return activation(step, y, step.integer("fused_activation_function", 0))


def _cut(step: Step, size: Dim, stride: int, side: int, wanted: Dim) -> int:
    """How many rows are cut off, so that the output has the wanted size."""
    total = (size - 1) * stride + side - wanted
    if not isinstance(total, int):
        step.unsupported(f"an output of {wanted} from a run-time size {size}", "fix the input shapes")
    return total


@handler("Convolution2DTransposeBias")
def transposed_convolution_with_bias(step: Step) -> Tensor:
    """MediaPipe's. Options: padding (1: same, 2: valid), stride along the width, along the height."""
    x, filters = _operands(step, 0, 1)
    padding, across, down, *_ = integers(step, 3)
    if padding not in (1, 2) or min(across, down) < 1:
        step.malformed(f"padding {padding} and strides {down} and {across}")
    before, after = [], []
    for axis, stride in enumerate((down, across)):
        size, side = x.shape[1 + axis], channels(step, filters, 1 + axis)
        total = 0
        if padding == 1:
            if not isinstance(size, int):
                step.unsupported(f"an image of a run-time size {size}", "fix the input shapes")
            total = max(0, side - (size - 1) % stride - 1)
        before.append(total // 2)
        after.append(total - total // 2)
    return _transposed(step, real(step, 0), real(step, 1), step.optional(2), (down, across), (*before, *after), (0, 0))


def _transposed(
    step: Step,
    x: Tensor,
    filters: Tensor,
    bias: Tensor | None,
    strides: Sequence[int],
    pads_: Sequence[int],
    extra: Sequence[int],
    dilations: Sequence[int] = (),
) -> Tensor:
    return step.emit(
        "deconv3d" if len(strides) == 3 else "deconv2d",
        x,
        filters,
        *(() if bias is None else (bias,)),
        strides=tuple(strides),
        pads=tuple(pads_),
        dilations=tuple(dilations) or (1,) * len(strides),
        output_padding=tuple(extra),
        groups=1,
        **NO_ACTIVATION,
    )


@handler("CONV_3D")
def convolution_in_space(step: Step) -> Tensor:
    """The filter is [D, H, W, I, O]."""
    x, filters = real(step, 0), real(step, 1)
    if x.rank != 5 or filters.rank != 5:
        step.malformed(f"the image has rank {x.rank}, the filter {filters.rank}, not 5")
    kernel = tuple(channels(step, filters, axis) for axis in range(3))
    strides, dilations = _steps_in_space(step)
    bias = optional_real(step, 2)
    y = step.emit(
        "conv3d",
        x,
        step.transpose(filters, (4, 0, 1, 2, 3)),
        *(() if bias is None else (bias,)),
        strides=strides,
        pads=pads(step, x.shape[1:4], kernel, strides, dilations),
        dilations=dilations,
        groups=1,
        **NO_ACTIVATION,
    )
    return activation(step, y, step.integer("fused_activation_function", 0))


def _steps_in_space(step: Step) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Strides and dilations of depth, height and width."""
    strides = tuple(step.integer(f"stride_{axis}") for axis in "dhw")
    dilations = tuple(step.integer(f"dilation_{axis}_factor", 1) for axis in "dhw")
    if min(*strides, *dilations) < 1:
        step.malformed(f"strides {strides} and dilations {dilations}")
    return strides, dilations
