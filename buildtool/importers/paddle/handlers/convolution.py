"""Convolutions: plain, depthwise, transposed and deformable ones, of pictures and of volumes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import handler, maybe, one
from buildtool.importers.paddle.values import (
    activated,
    dims,
    flag,
    is_channels_last,
    plus,
    real,
    to_first,
    to_last,
)
from buildtool.importers.spatial import NO_ACTIVATION, channels, fixed_pads, same_pads
from buildtool.importers.step import Step
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim


def image(step: Step, name: str) -> tuple[Tensor, bool]:
    """The tensor of a slot with its channels last, and whether it is that way in the model."""
    x = one(step, name)
    if x.rank not in (4, 5):
        step.malformed(f"its input has rank {x.rank}, not 4 or 5")
    last = is_channels_last(step)
    return (x if last else to_last(step, x)), last


def numbers(step: Step, name: str, rank: int) -> tuple[int, ...]:
    """An attribute with one positive number for each spatial axis."""
    values = step.integers(name, [1] * rank)
    if len(values) == 1:
        values *= rank
    if len(values) != rank or any(value < 1 for value in values):
        step.malformed(f"the attribute '{name}' is {list(values)}, not {rank} positive numbers")
    return values


def pads(
    step: Step, sizes: Sequence[Dim], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[Dim, ...]:
    """Those before all axes, then those behind them; the attribute has them in pairs where they differ."""
    rank = len(kernel)
    algorithm = step.text("padding_algorithm", "EXPLICIT")
    if algorithm == "VALID":
        return (0,) * (2 * rank)
    if algorithm == "SAME":
        return same_pads(step, sizes, kernel, strides, dilations)
    stated = step.integers("paddings", [0] * rank)
    if len(stated) == rank:
        stated = (*stated, *stated)
    elif len(stated) == 2 * rank:
        stated = (*stated[0::2], *stated[1::2])
    else:
        step.malformed(f"the attribute 'paddings' has {len(stated)} numbers for {rank} axes")
    if any(pad < 0 for pad in stated):
        step.unsupported("negative paddings", "crop the image instead")
    return stated


def _finished(step: Step, y: Tensor, last: bool) -> Tensor:
    """What operators of Paddle-Lite do besides: add another tensor, then an activation."""
    residual = maybe(step, "ResidualData")
    if residual is not None:
        y = plus(step, y, residual if last else to_last(step, residual))
    kind = step.text("act_type", "") if flag(step, "with_act") else step.text("fuse_activation", "")
    if flag(step, "fuse_relu") and not kind:
        kind = "relu"
    if kind == "leaky_relu" and step.has("fuse_alpha") and not step.has("leaky_relu_alpha"):
        y = step.emit("leaky_relu", y, alpha=real(step, "fuse_alpha"))
    elif kind == "relu6" and step.has("fuse_brelu_threshold") is False and step.has("fuse_alpha"):
        y = step.emit("clip", y, low=0.0, high=real(step, "fuse_alpha"))
    else:
        y = activated(step, y, kind)
    return y if last else to_first(step, y)


def _bias(step: Step, made: int) -> tuple[Tensor, ...]:
    bias = maybe(step, "Bias")
    return () if bias is None else (step.reshape(bias, (made,)),)


@handler("conv2d", "depthwise_conv2d", "conv3d")
def convolution(step: Step) -> Tensor:
    """The filter is [O, C / groups, ...]."""
    (x, last), filters = image(step, "Input"), one(step, "Filter")
    rank = x.rank - 2
    groups, deep = step.integer("groups", 1), channels(step, x, -1)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the image {x.rank}")
    made, share = channels(step, filters, 0), channels(step, filters, 1)
    if groups < 1 or deep % groups or made % groups or share != deep // groups:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    kernel = tuple(channels(step, filters, 2 + axis) for axis in range(rank))
    strides, dilations = numbers(step, "strides", rank), numbers(step, "dilations", rank)
    attributes: dict[str, AttrValue] = {
        "strides": strides,
        "pads": pads(step, x.shape[1:-1], kernel, strides, dilations),
        "dilations": dilations,
        **NO_ACTIVATION,
    }
    bias = _bias(step, made)
    if groups == deep and groups > 1 and rank == 2:
        flat = step.transpose(step.reshape(filters, (made, *kernel)), (1, 2, 0))
        y = windowed(step, "dwconv2d", x, flat, *bias, multiplier=made // groups, **attributes)
    else:
        op = "conv3d" if rank == 3 else "conv2d"
        y = windowed(step, op, x, to_last(step, filters), *bias, groups=groups, **attributes)
    return _finished(step, y, last)


@handler("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def transposed_convolution(step: Step) -> Tensor:
    """The filter is [C, O / groups, ...]."""
    (x, last), filters = image(step, "Input"), one(step, "Filter")
    rank = x.rank - 2
    groups, deep = step.integer("groups", 1), channels(step, x, -1)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the image {x.rank}")
    share = channels(step, filters, 1)
    if groups < 1 or deep % groups or filters.shape[0] != deep:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    kernel = tuple(channels(step, filters, 2 + axis) for axis in range(rank))
    strides, dilations = numbers(step, "strides", rank), numbers(step, "dilations", rank)
    cut = fixed_pads(step, pads(step, x.shape[1:-1], kernel, strides, dilations))
    extents = [(side - 1) * dilation + 1 for side, dilation in zip(kernel, dilations, strict=True)]
    split = step.reshape(filters, (groups, deep // groups, share, *kernel))
    turned = step.transpose(split, (0, 2, *range(3, split.rank), 1))
    y = step.emit(
        "deconv3d" if rank == 3 else "deconv2d",
        x,
        step.reshape(turned, (groups * share, *kernel, deep // groups)),
        *_bias(step, groups * share),
        strides=strides,
        pads=cut,
        dilations=dilations,
        output_padding=_extra(step, x, extents, strides, cut),
        groups=groups,
        **NO_ACTIVATION,
    )
    return _finished(step, y, last)


def _extra(
    step: Step, x: Tensor, extents: Sequence[int], strides: Sequence[int], cut: Sequence[int]
) -> tuple[int, ...]:
    """How many rows come behind: as stated, or what the stated size of the output needs."""
    rank = len(extents)
    stated = step.integers("output_padding", ())
    if stated:
        return stated if len(stated) == rank else stated * rank
    wanted = dims(step, "output_size", "OutputSize", "OutputSizeTensor") if _has_size(step) else ()
    if not wanted:
        return (0,) * rank
    if len(wanted) == 1:
        wanted *= rank
    if len(wanted) != rank:
        step.malformed(f"an output of {len(wanted)} sizes for {rank} axes")
    extra = []
    for axis, size in enumerate(wanted):
        more = size - ((x.shape[1 + axis] - 1) * strides[axis] + extents[axis] - cut[axis] - cut[axis + rank])
        if not isinstance(more, int):
            step.unsupported("an output of a run-time size", "fix the input shapes")
        if not 0 <= more < strides[axis]:
            step.malformed(f"an output of {size} elements is not possible along axis {axis}")
        extra.append(more)
    return tuple(extra)


def _has_size(step: Step) -> bool:
    return step.has("output_size") or maybe(step, "OutputSize") is not None


@handler("deformable_conv", "deformable_conv_v1")
def deformable_convolution(step: Step) -> Tensor:
    (x, _), filters, offsets, mask = image(step, "Input"), one(step, "Filter"), one(step, "Offset"), maybe(step, "Mask")
    if x.rank != 4 or filters.rank != 4 or offsets.rank != 4:
        step.malformed("its inputs are not images")
    made, kernel = channels(step, filters, 0), (channels(step, filters, 2), channels(step, filters, 3))
    strides, dilations = numbers(step, "strides", 2), numbers(step, "dilations", 2)
    rest: list[Tensor] = []
    if mask is not None:
        rest = [step.filled((made,), 0, x.dtype), to_last(step, mask)]
    y = step.emit(
        "deform_conv2d",
        x,
        to_last(step, filters),
        to_last(step, offsets),
        *rest,
        strides=strides,
        pads=pads(step, x.shape[1:3], kernel, strides, dilations),
        dilations=dilations,
        groups=step.integer("groups", 1),
        offset_groups=step.integer("deformable_groups", 1),
    )
    return to_first(step, y)
