"""Pools, and pools of regions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import SPATIAL, known_sizes, picture, sides
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.types import DType


@handler("Pooling")
def pooling(step: Step) -> Tensor:
    """A mean counts the padding, but not what hangs over it."""
    x, method = picture(step), step.text("pool", "MAX")
    if method == "STOCHASTIC":
        step.unsupported("a pool that draws lots", "train the network with MAX or AVE")
    if step.integer("global_pooling", 0):
        if max(sides(step, "pad", "pad", 0, 0)):
            step.malformed("a global pool with padding")
        return step.emit("reduce_max" if method == "MAX" else "reduce_mean", x, axes=SPATIAL, keepdims=True)
    kernel, strides = sides(step, "kernel_size", "kernel", None, 1), sides(step, "stride", "stride", 1, 1)
    pads = sides(step, "pad", "pad", 0, 0)
    ceil = step.text("round_mode", "CEIL" if step.integer("ceil_mode", 1) else "FLOOR") == "CEIL"
    for axis in range(2):
        _check_windows(step, x, axis, kernel[axis], strides[axis], pads, ceil)
    window: dict[str, AttrValue] = {
        "kernel": kernel,
        "strides": strides,
        "pads": (*pads, *pads),
        "dilations": (1, 1),
        "ceil_mode": ceil,
    }
    moved = to_channels_last(step, x)
    if method == "MAX":
        y = step.emit("max_pool2d", moved, **window)
    else:
        y = step.emit("avg_pool2d", moved, count_include_pad=True, **window)
    return from_channels_last(step, y, 4)


def _check_windows(
    step: Step, x: Tensor, axis: int, kernel: int, stride: int, pads: tuple[int, int], ceil: bool
) -> None:
    """Caffe refuses paddings as large as the window, and without any padding counts windows behind the end."""
    if pads[axis] >= kernel:
        step.malformed(f"a padding of {pads[axis]} for windows of {kernel}")
    size = x.shape[2 + axis]
    if (
        ceil
        and not any(pads)
        and kernel < stride
        and isinstance(size, int)
        and -(-(size - kernel) // stride) * stride >= size
    ):
        step.unsupported(
            f"a window of {kernel} elements every {stride} that lies behind the {size} of its input",
            "round_mode: FLOOR leaves it out",
        )


@handler("ROIPooling")
def regions(step: Step) -> Tensor:
    """Bottoms: the picture; regions [R, 5]: number of the picture, left, top, right, bottom."""
    x = to_channels_last(step, picture(step))
    size = step.integer("pooled_h"), step.integer("pooled_w")
    y = step.emit("max_roi_pool", x, _regions(step), size=size, scale=step.real("spatial_scale", 1.0))
    return from_channels_last(step, y, 4)


def _regions(step: Step) -> Tensor:
    """Some networks have them as [R, 5, 1, 1] or [1, 1, R, 5]."""
    tensor = step.input(1)
    if tensor.rank == 4 and tensor.shape[2:] == (1, 1):
        return step.reshape(tensor, tensor.shape[:2])
    if tensor.rank == 4 and tensor.shape[:2] == (1, 1):
        return step.reshape(tensor, tensor.shape[2:])
    if tensor.rank != 2:
        step.malformed(f"its regions have the shape {list(map(str, tensor.shape))}, not [R, 5]")
    return tensor


@handler("PSROIPooling")
def position_sensitive_regions(step: Step) -> Tensor:
    """R-FCN's: each element of a region is the mean of its share of the region, in a channel of its own.

    Shares are rows and columns that are 1 inside and 0 outside: products with them add up what lies inside.
    """
    x, boxes = picture(step), _regions(step)
    (batch, deep, height, width) = known_sizes(step, x.shape, "position-sensitive regions of a blob of")
    side, made = step.integer("group_size"), step.integer("output_dim")
    if batch != 1:
        step.unsupported(f"position-sensitive regions of {batch} pictures", "one picture is supported")
    if side < 1 or made < 1 or deep != made * side * side or boxes.shape[1] != 5:
        step.malformed(f"{deep} channels for {made} of {side} x {side} elements")
    scale, count = step.real("spatial_scale"), boxes.shape[0]
    rows = _shares(step, boxes, 2, side, height, scale)  # [R, G, H]
    columns = _shares(step, boxes, 1, side, width, scale)
    by_row = step.transpose(step.reshape(x, (made, side, side, height, width)), (1, 3, 0, 2, 4))
    by_row = step.reshape(by_row, (side, height, made * side * width))
    sums = step.emit("matmul", step.transpose(rows, (1, 0, 2)), by_row)  # [G, R, ...]
    sums = step.reshape(sums, (side, count, made, side, width))
    inside = step.emit("mul", sums, step.reshape(columns, (1, count, 1, side, width)))
    total = step.transpose(step.emit("reduce_sum", inside, axes=(4,), keepdims=False), (1, 2, 0, 3))
    lines = step.reshape(step.emit("reduce_sum", rows, axes=(2,), keepdims=False), (count, 1, side, 1))
    places = step.reshape(step.emit("reduce_sum", columns, axes=(2,), keepdims=False), (count, 1, 1, side))
    one = step.constant(np.array(1, np.float32))
    return step.emit("div", total, step.emit("maximum", step.emit("mul", lines, places), one))


def _shares(step: Step, boxes: Tensor, column: int, side: int, size: int, scale: float) -> Tensor:
    """[R, G, size]: 1 where an element along an axis belongs to a share, else 0."""
    step.check_table(side, size)
    count, factor = boxes.shape[0], step.constant(np.array(scale, np.float32))
    one, half = (step.constant(np.array(value, np.float32)) for value in (1.0, 0.5))
    ends = []
    for which in (column, column + 2):
        end = step.emit("slice", boxes, starts=(0, which), steps=(1, 1), sizes=(count, 1))
        ends.append(step.emit("floor", step.emit("add", end, half, **NO_ACTIVATION)))
    start = step.emit("mul", ends[0], factor)
    stop = step.emit("mul", step.emit("add", ends[1], one, **NO_ACTIVATION), factor)
    least = step.constant(np.array(0.1, np.float32))
    width = step.emit("div", step.emit("maximum", step.emit("sub", stop, start), least), _row(step, [side]))
    borders = []
    for first, rounded in ((0, "floor"), (1, "ceil")):
        along = step.emit("mul", width, _row(step, range(first, side + first)))
        border = step.emit(rounded, step.emit("add", along, start, **NO_ACTIVATION))
        borders.append(step.reshape(border, (count, side, 1)))
    elements = _row(step, range(size))
    begun, ended = step.emit("less_equal", borders[0], elements), step.emit("less", elements, borders[1])
    return step.emit("cast", step.emit("logical_and", begun, ended), to=DType.F32)


def _row(step: Step, numbers: Iterable[int]) -> Tensor:
    return step.constant(np.array(list(numbers), np.float32))
