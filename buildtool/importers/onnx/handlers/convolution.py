"""Conv: one to three spatial axes, groups, dilations, every way of padding. Depthwise where each channel is a group."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.registry import handler
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
from buildtool.importers.windows import windowed


@handler("Conv")
def convolution(step: Step) -> Tensor:
    x = step.input(0)
    return from_channels_last(step, convolved(step, x), x.rank)


def convolved(step: Step, x: Tensor) -> Tensor:
    """The result of a Conv node on x, channels last and with at least two spatial axes."""
    filters = step.input(1)
    rank = spatial_rank(step, x, 3)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the input {x.rank}")
    groups = step.integer("group", 1)
    deep, made = channels(step, x), channels(step, filters, 0)
    if groups < 1 or deep % groups or made % groups or filters.shape[1] != deep // groups:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    sides = tuple(channels(step, filters, axis) for axis in range(2, filters.rank))
    stated = step.integers("kernel_shape", sides)
    if stated != sides:
        step.malformed(f"the attribute 'kernel_shape' is {list(stated)}, but the filter is {list(sides)}")
    kernel = lifted(sides, 1)
    filters = step.reshape(filters, (made, deep // groups, *kernel))
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    pads = pads_of(step, x, kernel, strides, dilations)
    common = {"strides": strides, "pads": pads, "dilations": dilations} | NO_ACTIVATION
    moved = to_channels_last(step, x)
    bias = step.optional(2)
    rest = () if bias is None else (bias,)
    if groups == deep and groups > 1 and rank < 3:
        flat = step.transpose(step.reshape(filters, (made, *kernel)), (1, 2, 0))
        return windowed(step, "dwconv2d", moved, flat, *rest, multiplier=made // groups, **common)
    last = step.transpose(filters, (0, *range(2, filters.rank), 1))
    return windowed(step, "conv3d" if rank == 3 else "conv2d", moved, last, *rest, groups=groups, **common)
