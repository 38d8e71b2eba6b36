"""ConvTranspose: one and two spatial axes, groups, dilations, output padding, every way of padding."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.spatial import (
    NO_ACTIVATION,
    channels,
    explicit_pads,
    from_channels_last,
    per_axis,
    spatial_rank,
    to_channels_last,
    two_axes,
)
from buildtool.importers.onnx.step import Step


@handler("ConvTranspose")
def transposed_convolution(step: Step) -> Tensor:
    x, filters = step.input(0), step.input(1)
    rank = spatial_rank(step, x)
    if filters.rank != x.rank:
        step.malformed(f"the filter has rank {filters.rank}, the input {x.rank}")
    groups, deep, per_group = step.integer("group", 1), channels(step, x), channels(step, filters, 1)
    if groups < 1 or deep % groups or filters.shape[0] != deep:
        step.malformed(f"{groups} groups, {deep} channels and a filter {list(filters.shape)} do not fit")
    kernel = (1, channels(step, filters, 2)) if rank == 1 else (channels(step, filters, 2), channels(step, filters, 3))
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    extra = step.integers("output_padding", [0] * rank)
    extra = extra if rank == 2 else (0, *extra)
    pads = _pads(step, x, [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)], strides, extra)
    # [C, O/groups, KH, KW] -> [O, KH, KW, C/groups]
    split = step.reshape(filters, (groups, deep // groups, per_group, *kernel))
    moved_filters = step.reshape(step.transpose(split, (0, 2, 3, 4, 1)), (groups * per_group, *kernel, deep // groups))
    bias = step.optional(2)
    y = step.emit(
        "deconv2d",
        to_channels_last(step, x),
        moved_filters,
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
    step: Step, x: Tensor, extents: Sequence[int], strides: Sequence[int], extra: Sequence[int]
) -> tuple[int, int, int, int]:
    """What is cut off: as stated, or what is left over when the output has a stated or a multiplied size."""
    rank = x.rank - 2
    mode = step.text("auto_pad", "NOTSET")
    wanted = step.integers("output_shape", [])
    if not wanted and mode in ("NOTSET", ""):
        return explicit_pads(step, rank)
    if mode == "VALID" and not wanted:
        return (0, 0, 0, 0)
    sizes = two_axes(x)
    targets = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    if wanted:
        targets = list(wanted[-rank:]) if rank == 2 else [1, wanted[-1]]
    before, after = [], []
    for size, stride, extent, more, target in zip(sizes, strides, extents, extra, targets, strict=True):
        total = stride * (size - 1) + more + extent - target
        if not isinstance(total, int):
            step.unsupported("an output shape with a run-time input size", "export the model with explicit pads")
        if total < 0:
            step.unsupported("an output shape larger than the sum of what is computed", "use output_padding")
        small, large = total // 2, total - total // 2
        before.append(large if mode != "SAME_UPPER" else small)
        after.append(small if mode != "SAME_UPPER" else large)
    return (before[0], before[1], after[0], after[1])
