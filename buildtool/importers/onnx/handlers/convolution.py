"""Conv: one and two spatial axes, groups, dilations, every way of padding. Depthwise where each channel is a group."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.spatial import (
    NO_ACTIVATION,
    channels,
    from_channels_last,
    pads_of,
    per_axis,
    spatial_rank,
    to_channels_last,
)
from buildtool.importers.onnx.step import Step


@handler("Conv")
def convolution(step: Step) -> Tensor:
    x, filters = step.input(0), step.input(1)
    rank = spatial_rank(step, x)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the input {x.rank}")
    groups = step.integer("group", 1)
    deep, made = channels(step, x), channels(step, filters, 0)
    if groups < 1 or deep % groups or made % groups or filters.shape[1] != deep // groups:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    if rank == 1:
        filters = step.reshape(filters, (made, deep // groups, 1, filters.shape[2]))
    kernel = (channels(step, filters, 2), channels(step, filters, 3))
    stated = step.integers("kernel_shape", kernel[2 - rank :])
    if stated != kernel[2 - rank :]:
        step.malformed(f"the attribute 'kernel_shape' is {list(stated)}, but the filter is {list(kernel[2 - rank :])}")
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    pads = pads_of(step, x, kernel, strides, dilations)
    moved = to_channels_last(step, x)
    bias = step.optional(2)
    rest = () if bias is None else (bias,)
    common = {"strides": strides, "pads": pads, "dilations": dilations} | NO_ACTIVATION
    if groups == deep and groups > 1:
        flat = step.transpose(step.reshape(filters, (made, *kernel)), (1, 2, 0))
        y = step.emit("dwconv2d", moved, flat, *rest, multiplier=made // groups, **common)
    else:
        y = step.emit("conv2d", moved, step.transpose(filters, (0, 2, 3, 1)), *rest, groups=groups, **common)
    return from_channels_last(step, y, x.rank)
