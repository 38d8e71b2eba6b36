"""Pools over any number of spatial axes.

Pools over three and more are pools over two of them at a time: the largest element of a box is that of its lines, the
mean of a box is the mean of the means, and as much holds for how many elements of a window count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim, bounds, product
from buildtool.ops._shapes import extent


@dataclass(frozen=True)
class Window:
    """One entry per spatial axis, for at least two axes; `pads` has those before and then those behind."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[Dim, ...]
    dilations: tuple[int, ...]

    def along(self, *axes: int | None) -> dict[str, AttrValue]:
        """The attributes of a pool over two of the axes; None is an axis where nothing happens."""

        def picked(values: tuple[Dim, ...], idle: int) -> tuple[Dim, ...]:
            return tuple(idle if axis is None else values[axis] for axis in axes)

        rank = len(self.kernel)
        return {
            "kernel": picked(self.kernel, 1),
            "strides": picked(self.strides, 1),
            "pads": picked(self.pads[:rank], 0) + picked(self.pads[rank:], 0),
            "dilations": picked(self.dilations, 1),
        }


def boxes(step: Step, x: Tensor, op: str, window: Window, more: dict[str, AttrValue]) -> Tensor:
    """A pool [N, ..., C] over all spatial axes: the last two at once, then one by one."""
    rank = len(window.kernel)
    check_windows(step, x.shape[1:-1], window, bool(more.get("ceil_mode")))
    x = _over_two_axes(step, x, op, rank - 2, window.along(rank - 2, rank - 1) | more)
    for axis in reversed(range(rank - 2)):
        x = _over_two_axes(step, x, op, axis, window.along(axis, None) | more)
    return x


def check_windows(step: Step, sizes: Sequence[Dim], window: Window, ceil_mode: bool) -> None:
    """ModelFileError where an axis has no window at all; with `ceil_mode`, one may hang over the end."""
    rank = len(window.kernel)
    for axis, size in enumerate(sizes):
        padded = size + window.pads[axis] + window.pads[axis + rank]
        span = extent(window.kernel[axis], window.dilations[axis])
        if bounds(padded)[1] <= span - (window.strides[axis] if ceil_mode else 1):
            step.malformed(f"its window spans {span} elements of an axis that has {padded} with its padding")


def _over_two_axes(step: Step, x: Tensor, op: str, first: int, attributes: dict[str, AttrValue]) -> Tensor:
    """A pool over spatial axis `first` and all behind it as one; the spatial axes before it count as batch."""
    if x.rank == 4:
        return _pool(step, x, op, attributes)
    axis = 1 + first
    before, behind = x.shape[:axis], x.shape[axis + 1 : -1]
    y = _pool(step, step.reshape(x, (product(before), x.shape[axis], product(behind), x.shape[-1])), op, attributes)
    if len(behind) == 1:  # then the second axis was pooled as well
        behind = y.shape[2:3]
    return step.reshape(y, (*before, y.shape[1], *behind, x.shape[-1]))


def _pool(step: Step, x: Tensor, op: str, attributes: dict[str, AttrValue]) -> Tensor:
    if op != "sum":
        return windowed(step, op, x, **attributes)
    kernel, rest = attributes["kernel"], {key: value for key, value in attributes.items() if key != "kernel"}
    assert isinstance(kernel, tuple)
    sides = [side for side in kernel if isinstance(side, int)]
    if not isinstance(x.shape[-1], int):  # a depthwise convolution has a weight for each channel
        mean = windowed(step, "avg_pool2d", x, **attributes, ceil_mode=False, count_include_pad=True)
        return step.emit("mul", mean, step.filled((), math.prod(sides), x.dtype))
    ones = step.filled((*sides, channels(step, x, -1)), 1, x.dtype)
    return windowed(step, "dwconv2d", x, ones, multiplier=1, **rest, **NO_ACTIVATION)


def adapted(step: Step, x: Tensor, axis: int, count: int, kind: str) -> Tensor:
    """An adaptive pool along one axis: windows of nearly the same size.

    Window i goes from floor(i * size / count) to ceil((i + 1) * size / count).
    """
    size = x.shape[axis]
    if not isinstance(size, int):
        step.unsupported(f"an adaptive pool of a run-time size to {count} elements", "fix the input shapes")
    if size == count:
        return x
    if size < 1 or count < 1:
        step.malformed(f"an adaptive pool of {size} elements to {count}")
    step.check_table(count)
    firsts = [index * size // count for index in range(count)]
    ends = [-(-(index + 1) * size // count) for index in range(count)]
    longest = max(end - first for first, end in zip(firsts, ends, strict=True))
    step.check_table(count, longest)
    if kind == "max":
        places = np.array(
            [[min(first + tap, end - 1) for tap in range(longest)] for first, end in zip(firsts, ends, strict=True)]
        )
        taps = step.emit("gather", x, step.constant(places.astype(np.int32)), axis=axis)
        return step.emit("reduce_max", taps, axes=(axis + 1,), keepdims=False)
    places, weights = np.zeros((count, longest), np.int32), np.zeros((count, longest), x.dtype.numpy)
    for index, (first, end) in enumerate(zip(firsts, ends, strict=True)):
        places[index] = np.minimum(first + np.arange(longest), size - 1)
        weights[index, : end - first] = 1 / (end - first)
    return step.emit("resample", x, step.constant(places), step.constant(weights), axis=axis)
