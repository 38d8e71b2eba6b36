"""ConvTranspose: one to three spatial axes, groups, dilations, output padding, every way of padding."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import explicit_pads
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import (
    NO_ACTIVATION,
    channels,
    from_channels_last,
    lifted,
    per_axis,
    spatial_rank,
    spatial_sizes,
    to_channels_last,
)
from buildtool.importers.step import Step


@handler("ConvTranspose")
def transposed_convolution(step: Step) -> Tensor:
    x, filters = step.input(0), step.input(1)
    rank = spatial_rank(step, x, 3)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the input {x.rank}")
    groups, deep, per_group = step.integer("group", 1), channels(step, x), channels(step, filters, 1)
    if groups < 1 or deep % groups or filters.shape[0] != deep:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    kernel = lifted([channels(step, filters, axis) for axis in range(2, filters.rank)], 1)
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    extra = lifted(step.integers("output_padding", [0] * rank), 0)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads, extra = _pads(step, x, extents, strides, extra)
    # [C, O/groups, KH, KW] -> [O, KH, KW, C/groups]
    split = step.reshape(filters, (groups, deep // groups, per_group, *kernel))
    turned = step.transpose(split, (0, 2, *range(3, split.rank), 1))
    bias = step.optional(2)
    y = step.emit(
        "deconv3d" if rank == 3 else "deconv2d",
        to_channels_last(step, x),
        step.reshape(turned, (groups * per_group, *kernel, deep // groups)),
        *(() if bias is None else (bias,)),
        strides=strides,
        pads=pads,
        dilations=dilations,
        output_padding=extra,
        groups=groups,
        **NO_ACTIVATION,
    )
    return from_channels_last(step, y, x.rank)


def _pads(
    step: Step, x: Tensor, extents: Sequence[int], strides: Sequence[int], extra: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is cut off, and what is added behind: as stated, or such that the output has a stated or multiplied size."""
    rank = x.rank - 2
    mode = step.text("auto_pad", "NOTSET")
    wanted = step.integers("output_shape", [])
    if not wanted and mode in ("NOTSET", ""):
        return explicit_pads(step, rank), extra
    if mode == "VALID" and not wanted:
        return (0,) * (2 * len(extents)), extra
    sizes = spatial_sizes(x)
    targets = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    if wanted:
        if len(wanted) not in (rank, x.rank):
            step.malformed(f"the attribute 'output_shape' has {len(wanted)} sizes")
        targets = list(lifted(wanted[-rank:], 1))
    before, after, behind = [], [], []
    for size, stride, extent, more, target in zip(sizes, strides, extents, extra, targets, strict=True):
        total = stride * (size - 1) + more + extent - target
        if not isinstance(total, int):
            step.unsupported("an output shape with a run-time input size", "export the model with explicit pads")
        behind.append(more + max(-total, 0))
        total = max(total, 0)
        small, large = total // 2, total - total // 2
        before.append(large if mode != "SAME_UPPER" else small)
        after.append(small if mode != "SAME_UPPER" else large)
    return (*before, *after), tuple(behind)
