"""Convolutions: plain, depthwise and transposed ones, over pictures and volumes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import Picture
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim


@handler("Conv2D", "Conv3D")
def convolution(step: Step) -> Tensor:
    """The filter is [(D,) H, W, I, O]."""
    rank = 4 if step.node.op == "Conv2D" else 5
    picture, filters = Picture.of(step, step.input(0), rank), _filters(step, 1, rank)
    x = picture.last(step.input(0))
    deep, seen, made = channels(step, x, -1), channels(step, filters, -2), channels(step, filters, -1)
    if deep % seen or made % (deep // seen):
        step.malformed(f"a filter {list(filters.shape)} for {deep} channels")
    turned = step.transpose(filters, (rank - 1, *range(rank - 1)))
    window = _window(step, picture, x, filters)
    op = "conv2d" if rank == 4 else "conv3d"
    return picture.back(windowed(step, op, x, turned, groups=deep // seen, **window, **NO_ACTIVATION))


@handler("DepthwiseConv2dNative")
def depthwise_convolution(step: Step) -> Tensor:
    """The filter is [H, W, channels, multiplier]."""
    picture, filters = Picture.of(step, step.input(0), 4), _filters(step, 1, 4)
    x = picture.last(step.input(0))
    height, width, deep, multiplier = (channels(step, filters, axis) for axis in range(4))
    if channels(step, x, -1) != deep:
        step.malformed(f"a filter {list(filters.shape)} for {channels(step, x, -1)} channels")
    flat = step.reshape(filters, (height, width, deep * multiplier))
    window = _window(step, picture, x, filters)
    return picture.back(windowed(step, "dwconv2d", x, flat, multiplier=multiplier, **window, **NO_ACTIVATION))


def _filters(step: Step, index: int, rank: int) -> Tensor:
    filters = step.input(index)
    if filters.rank != rank:
        step.malformed(f"the filter has rank {filters.rank}, not {rank}")
    return filters


def _window(step: Step, picture: Picture, x: Tensor, filters: Tensor) -> dict[str, AttrValue]:
    strides, dilations = picture.listed("strides"), picture.listed("dilations")
    kernel = tuple(channels(step, filters, axis) for axis in range(picture.rank - 2))
    return {
        "strides": strides,
        "pads": picture.pads(x.shape[1:-1], kernel, strides, dilations),
        "dilations": dilations,
    }


@handler("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def transposed_convolution(step: Step) -> Tensor:
    """Inputs: the shape of the output, the filter [(D,) H, W, O, I], the image."""
    rank = 4 if step.node.op == "Conv2DBackpropInput" else 5
    picture, filters = Picture.of(step, step.input(2), rank), _filters(step, 1, rank)
    x, shape = picture.last(step.input(2)), step.known_dims(0, "output shape")
    if len(shape) == rank:
        sizes: Sequence[Dim] = shape[2:] if picture.first else shape[1:-1]
    elif len(shape) == rank - 2:
        sizes = shape
    else:
        step.malformed(f"the shape of its output has {len(shape)} sizes, not {rank}")
    strides, dilations = picture.listed("strides"), picture.listed("dilations")
    extents = [(channels(step, filters, axis) - 1) * dilation + 1 for axis, dilation in enumerate(dilations)]
    pads, extra = _cuts(step, picture, x, extents, strides, sizes)
    turned = step.transpose(filters, (rank - 2, *range(rank - 2), rank - 1))
    y = step.emit(
        "deconv2d" if rank == 4 else "deconv3d",
        x,
        turned,
        strides=strides,
        pads=pads,
        dilations=dilations,
        output_padding=extra,
        groups=1,
        **NO_ACTIVATION,
    )
    return picture.back(y)


def _cuts(
    step: Step, picture: Picture, x: Tensor, extents: Sequence[int], strides: Sequence[int], sizes: Sequence[Dim]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is cut off on both sides, and what is added behind, so that the output has the wanted sizes."""
    padding, count = step.text("padding"), len(extents)
    stated = None if padding == "SAME" else picture.explicit_pads(padding)
    before, after, extra = [], [], []
    for axis, (stride, extent, wanted) in enumerate(zip(strides, extents, sizes, strict=True)):
        total = (x.shape[1 + axis] - 1) * stride + extent - wanted
        if not isinstance(total, int):
            step.unsupported(f"an output of {wanted} from a run-time size {x.shape[1 + axis]}", "fix the input shapes")
        front = max(total, 0) // 2 if stated is None else stated[axis]
        back = total - front
        if stated is not None and back > stated[axis + count]:
            step.malformed(f"an output of {wanted} from {x.shape[1 + axis]} with the padding {padding}")
        before.append(front)
        after.append(max(back, 0))
        extra.append(max(-back, 0))
    return (*before, *after), tuple(extra)
