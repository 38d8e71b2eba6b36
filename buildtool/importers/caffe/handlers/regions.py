"""Pools of regions: parts of pictures as small pictures of one size.

Where each element of a region has channels of its own, what it reads are rows and columns with weights, and products
with them add up what lies inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import known_sizes, picture
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels, from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.types import DType


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
    """R-FCN's: each element of a region is the mean of its share of the region, in a channel of its own."""
    boxes, side, height, width = _sizes(step)
    scale, count = step.real("spatial_scale"), boxes.shape[0]
    rows = _shares(step, boxes, 2, side, height, scale)
    columns = _shares(step, boxes, 1, side, width, scale)
    lines = step.reshape(step.emit("reduce_sum", rows, axes=(2,), keepdims=False), (count, 1, side, 1))
    places = step.reshape(step.emit("reduce_sum", columns, axes=(2,), keepdims=False), (count, 1, 1, side))
    one = step.constant(np.array(1, np.float32))
    total = _weighed(step, rows, columns)
    return step.emit("div", total, step.emit("maximum", step.emit("mul", lines, places), one))


@handler("PSROIAlign")
def position_sensitive_samples(step: Step) -> Tensor:
    """As PSROIPooling, but the mean of samples between elements."""
    boxes, side, height, width = _sizes(step)
    scale, samples = step.real("spatial_scale"), step.integer("sample_num")
    if samples < 1:
        step.malformed(f"'sample_num' is {samples}")
    rows = _samples(step, boxes, 2, side, height, scale)
    columns = _samples(step, boxes, 1, side, width, scale)
    part = step.constant(np.array(1 / samples**2, np.float32))
    return step.emit("mul", _weighed(step, rows, columns), part)


def _sizes(step: Step) -> tuple[Tensor, int, int, int]:
    """The regions, how many shares they have along an axis, and the sides of the picture."""
    x, boxes = picture(step), _regions(step)
    (batch, deep, height, width) = known_sizes(step, x.shape, "position-sensitive regions of a blob of")
    side, made = step.integer("group_size"), step.integer("output_dim")
    if batch != 1:
        step.unsupported(f"position-sensitive regions of {batch} images", "only one image is supported")
    if side < 1 or made < 1 or deep != made * side * side or boxes.shape[1] != 5:
        step.malformed(f"{deep} channels for {made} of {side} x {side} elements")
    return boxes, side, height, width


def _weighed(step: Step, rows: Tensor, columns: Tensor) -> Tensor:
    """[R, D, G, G]: sums over the picture, weighed by rows [R, G, H] and columns [R, G, W].

    Channel (d * G + i) * G + j of the picture is for element (i, j) of what becomes channel d.
    """
    x, (count, side, height), width = step.input(0), rows.shape, columns.shape[2]
    assert isinstance(side, int)
    made = channels(step, x) // side**2
    by_row = step.transpose(step.reshape(x, (made, side, side, height, width)), (1, 3, 0, 2, 4))
    by_row = step.reshape(by_row, (side, height, made * side * width))
    sums = step.emit("matmul", step.transpose(rows, (1, 0, 2)), by_row)  # [G, R, ...]
    sums = step.reshape(sums, (side, count, made, side, width))
    inside = step.emit("mul", sums, step.reshape(columns, (1, count, 1, side, width)))
    return step.transpose(step.emit("reduce_sum", inside, axes=(4,), keepdims=False), (1, 2, 0, 3))


def _shares(step: Step, boxes: Tensor, column: int, side: int, size: int, scale: float) -> Tensor:
    """[R, G, size]: 1 where an element along an axis belongs to a share, else 0."""
    step.check_table(side, size)
    half = step.constant(np.array(0.5, np.float32))
    ends = [
        step.emit("floor", step.emit("add", _number(step, boxes, column + which), half, **NO_ACTIVATION))
        for which in (0, 2)
    ]
    start, width = _extent(step, ends, side, scale)
    borders = []
    for first, rounded in ((0, "floor"), (1, "ceil")):
        along = step.emit("mul", width, _row(step, range(first, side + first)))
        border = step.emit(rounded, step.emit("add", along, start, **NO_ACTIVATION))
        borders.append(step.reshape(border, (boxes.shape[0], side, 1)))
    elements = _row(step, range(size))
    begun, ended = step.emit("less_equal", borders[0], elements), step.emit("less", elements, borders[1])
    return step.emit("cast", step.emit("logical_and", begun, ended), to=DType.F32)


def _samples(step: Step, boxes: Tensor, column: int, side: int, size: int, scale: float) -> Tensor:
    """[R, G, size]: how much each element along an axis adds to the samples of a share."""
    samples, count = step.integer("sample_num"), boxes.shape[0]
    step.check_table(side, samples, size)
    start, width = _extent(step, [_number(step, boxes, column + which) for which in (0, 2)], side, scale)
    borders = []
    for first in (0, 1):
        along = step.emit("mul", width, _row(step, range(first, side + first)))
        border = step.emit("clip", step.emit("add", along, start, **NO_ACTIVATION), low=0.0, high=size - 1.0)
        borders.append(step.reshape(border, (count, side, 1)))
    apart = step.emit("div", width, _row(step, [samples + 1]))
    steps = step.emit("mul", step.reshape(apart, (count, 1, 1)), _row(step, range(1, samples + 1)))
    places = step.emit("add", borders[0], steps, **NO_ACTIVATION)
    inside = step.emit("cast", step.emit("less", places, borders[1]), to=DType.F32)
    whole = (count, side, samples, 1)
    distance = step.emit("abs", step.emit("sub", step.reshape(places, whole), _row(step, range(size))))
    near = step.emit("relu", step.emit("sub", _row(step, [1]), distance))
    weights = step.emit("mul", near, step.reshape(inside, whole))
    return step.emit("reduce_sum", weights, axes=(2,), keepdims=False)


def _extent(step: Step, ends: Sequence[Tensor], side: int, scale: float) -> tuple[Tensor, Tensor]:
    """[R, 1]: where regions begin on the picture, and how long a share is; the last element belongs to a region."""
    factor, one = step.constant(np.array(scale, np.float32)), step.constant(np.array(1, np.float32))
    start = step.emit("mul", ends[0], factor)
    stop = step.emit("mul", step.emit("add", ends[1], one, **NO_ACTIVATION), factor)
    least = step.constant(np.array(0.1, np.float32))
    whole = step.emit("maximum", step.emit("sub", stop, start), least)
    return start, step.emit("div", whole, _row(step, [side]))


def _number(step: Step, boxes: Tensor, column: int) -> Tensor:
    return step.emit("slice", boxes, starts=(0, column), steps=(1, 1), sizes=(boxes.shape[0], 1))


def _row(step: Step, numbers: Iterable[int]) -> Tensor:
    return step.constant(np.array(list(numbers), np.float32))
