"""Convolutions: plain, depthwise, separable and transposed ones, over one to three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.activation import activated
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    as_it_was,
    channels_last,
    floating,
    one_axis,
    only,
    optional_weight,
    sizes,
    two_axes,
    weight,
)
from buildtool.importers.spatial import NO_ACTIVATION, channels, lifted, same_pads
from buildtool.importers.step import Step
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim


def _bias(step: Step) -> tuple[Tensor, ...]:
    bias = optional_weight(step, "bias")
    return () if bias is None else (bias,)


def _image(step: Step, rank: int) -> Tensor:
    """The input with channels last and at least two spatial axes."""
    return two_axes(step, channels_last(step, floating(step, only(step)), rank))


def _filters(step: Step, name: str, rank: int) -> Tensor:
    """Weights [spatial axes, in, out], with at least two spatial axes."""
    filters = weight(step, name)
    if filters.rank != rank + 2:
        step.malformed(f"the weights '{name}' have rank {filters.rank}, not {rank + 2}")
    return filters if rank > 1 else step.reshape(filters, (1, *filters.shape))


def _kernel(step: Step, filters: Tensor) -> tuple[int, ...]:
    return tuple(channels(step, filters, axis) for axis in range(filters.rank - 2))


def _window(step: Step, spatial: Sequence[Dim], kernel: Sequence[int], rank: int) -> dict[str, AttrValue]:
    strides = lifted(sizes(step, "strides", rank, (1,) * rank), 1)
    dilations = lifted(sizes(step, "dilation_rate", rank, (1,) * rank), 1)
    padding = step.text("padding", "valid")
    match padding:
        case "valid":
            pads: tuple[Dim, ...] = (0,) * (2 * len(kernel))
        case "same":
            pads = same_pads(step, spatial, kernel, strides, dilations)
        case "causal" if rank == 1:
            pads = (0, (kernel[1] - 1) * dilations[1], 0, 0)
        case _:
            step.malformed(f"the padding is '{padding}'")
    return {"strides": strides, "pads": pads, "dilations": dilations}


def _result(step: Step, y: Tensor, rank: int) -> Tensor:
    return as_it_was(step, activated(step, one_axis(step, y, rank + 2)))


def _convolved(step: Step, rank: int) -> Tensor:
    x, filters = _image(step, rank), _filters(step, "kernel", rank)
    window = _window(step, x.shape[1:-1], _kernel(step, filters), rank)
    return _result(step, _spread(step, x, filters, _bias(step), window, step.integer("groups", 1)), rank)


def _spread(
    step: Step, x: Tensor, filters: Tensor, bias: tuple[Tensor, ...], window: dict[str, AttrValue], groups: int
) -> Tensor:
    deep, seen = channels(step, x, -1), channels(step, filters, -2)
    if groups < 1 or seen * groups != deep:
        step.malformed(f"filters {list(filters.shape)} in {groups} groups for {deep} channels")
    last = filters.rank - 1
    turned = step.transpose(filters, (last, *range(last - 1), last - 1))
    op = "conv3d" if last == 4 else "conv2d"
    return windowed(step, op, x, turned, *bias, groups=groups, **window, **NO_ACTIVATION)


def share_of_input(step: Step, x: Tensor, rank: int) -> Tensor:
    """What the input [N, spatial axes, C] gives to the gates of a layer that convolves."""
    image, filters = two_axes(step, x), _filters(step, "kernel", rank)
    window = _window(step, image.shape[1:-1], _kernel(step, filters), rank)
    return one_axis(step, _spread(step, image, filters, _bias(step), window, 1), rank + 2)


def share_of_output(step: Step, y: Tensor, rank: int) -> Tensor:
    """What the last output gives to them: of the same size."""
    image, filters = two_axes(step, y), _filters(step, "recurrent_kernel", rank)
    kernel, ones = _kernel(step, filters), (1,) * (filters.rank - 2)
    window: dict[str, AttrValue] = {
        "strides": ones,
        "pads": same_pads(step, image.shape[1:-1], kernel, ones, ones),
        "dilations": ones,
    }
    return one_axis(step, _spread(step, image, filters, (), window, 1), rank + 2)


@handler("Conv1D", "Convolution1D")
def convolution_along(step: Step) -> Tensor:
    return _convolved(step, 1)


@handler("Conv2D", "Convolution2D")
def convolution(step: Step) -> Tensor:
    return _convolved(step, 2)


@handler("Conv3D", "Convolution3D")
def convolution_in_space(step: Step) -> Tensor:
    return _convolved(step, 3)


def _by_channel(step: Step, x: Tensor, name: str, rank: int, bias: tuple[Tensor, ...]) -> Tensor:
    """The weights are [spatial axes, channels, multiplier]."""
    filters = _filters(step, name, rank)
    deep, multiplier = channels(step, filters, -2), channels(step, filters, -1)
    kernel = _kernel(step, filters)
    flat = step.reshape(filters, (*kernel, deep * multiplier))
    window = _window(step, x.shape[1:-1], kernel, rank)
    return windowed(step, "dwconv2d", x, flat, *bias, multiplier=multiplier, **window, **NO_ACTIVATION)


@handler("DepthwiseConv2D")
def depthwise_convolution(step: Step) -> Tensor:
    return _result(step, _by_channel(step, _image(step, 2), "kernel", 2, _bias(step)), 2)


@handler("DepthwiseConv1D")
def depthwise_convolution_along(step: Step) -> Tensor:
    return _result(step, _by_channel(step, _image(step, 1), "kernel", 1, _bias(step)), 1)


def _separable(step: Step, rank: int) -> Tensor:
    x = _by_channel(step, _image(step, rank), "depthwise_kernel", rank, ())
    filters = _filters(step, "pointwise_kernel", rank)
    turned = step.transpose(filters, (3, 0, 1, 2))
    y = step.emit(
        "conv2d",
        x,
        turned,
        *_bias(step),
        strides=(1, 1),
        pads=(0, 0, 0, 0),
        dilations=(1, 1),
        groups=1,
        **NO_ACTIVATION,
    )
    return _result(step, y, rank)


@handler("SeparableConv1D", "SeparableConvolution1D")
def separable_convolution_along(step: Step) -> Tensor:
    return _separable(step, 1)


@handler("SeparableConv2D", "SeparableConvolution2D")
def separable_convolution(step: Step) -> Tensor:
    return _separable(step, 2)


# -- transposed --------------------------------------------------------------------------------------------------------
def _transposed(step: Step, rank: int) -> Tensor:
    """The weights are [spatial axes, out, in]."""
    x, filters = _image(step, rank), _filters(step, "kernel", rank)
    strides = lifted(sizes(step, "strides", rank, (1,) * rank), 1)
    dilations = lifted(sizes(step, "dilation_rate", rank, (1,) * rank), 1)
    stated = step.attribute("output_padding")
    extra = None if stated is None else lifted(sizes(step, "output_padding", rank, least=0), 0)
    before, after, behind = [], [], []
    for axis, side in enumerate(_kernel(step, filters)):
        extent = (side - 1) * dilations[axis] + 1
        cut = _cut(step, extent, strides[axis], None if extra is None else extra[axis])
        before.append(max(cut, 0) // 2)
        after.append(max(cut, 0) - max(cut, 0) // 2)
        behind.append(max(-cut, 0))
    last = filters.rank - 1
    y = step.emit(
        "deconv3d" if rank == 3 else "deconv2d",
        x,
        step.transpose(filters, (last - 1, *range(last - 1), last)),
        *_bias(step),
        strides=strides,
        pads=(*before, *after),
        dilations=dilations,
        output_padding=tuple(behind),
        groups=1,
        **NO_ACTIVATION,
    )
    return _result(step, y, rank)


def _cut(step: Step, extent: int, stride: int, extra: int | None) -> int:
    """By how much the full result is longer than what the layer gives."""
    padding = step.text("padding", "valid")
    if padding not in ("same", "valid"):
        step.malformed(f"the padding is '{padding}'")
    if extra is not None:
        return -extra if padding == "valid" else 2 * (extent // 2) - extra
    return min(extent - stride, 0) if padding == "valid" else extent - stride


@handler("Conv1DTranspose", "Convolution1DTranspose")
def transposed_convolution_along(step: Step) -> Tensor:
    return _transposed(step, 1)


@handler("Conv2DTranspose", "Convolution2DTranspose", "Deconvolution2D", "Deconv2D")
def transposed_convolution(step: Step) -> Tensor:
    return _transposed(step, 2)


@handler("Conv3DTranspose", "Convolution3DTranspose")
def transposed_convolution_in_space(step: Step) -> Tensor:
    return _transposed(step, 3)
