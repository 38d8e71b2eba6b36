"""Slice (attributes in opset 7 to 9, inputs from 10) and Gather."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, ceil_div, maximum, minimum


@handler("Slice")
def slice_(step: Step) -> Tensor:
    x = step.input(0)
    starts: tuple[Dim, ...]
    ends: tuple[Dim, ...]
    if step.opset < 10:
        starts, ends = step.integers("starts"), step.integers("ends")
        axes, steps = step.integers("axes", range(len(starts))), (1,) * len(starts)
    else:
        starts, ends = step.known_dims(1, "starts"), step.known_dims(2, "ends")
        axes = step.known_ints(3, "axes") if step.optional(3) is not None else tuple(range(len(starts)))
        steps = step.known_ints(4, "steps") if step.optional(4) is not None else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        step.malformed("starts, ends, axes and steps differ in length")
    first: list[Dim] = [0] * x.rank
    sizes = list(x.shape)
    strides = [1] * x.rank
    for axis, start, end, stride in zip(step.axes(axes, x.rank), starts, ends, steps, strict=True):
        if stride == 0:
            step.malformed("a step is 0")
        first[axis], sizes[axis] = _range(x.shape[axis], start, end, stride)
        strides[axis] = max(min(stride, 2**31 - 1), -(2**31 - 1))
    return step.emit("slice", x, starts=tuple(first), steps=tuple(strides), sizes=tuple(sizes))


def _range(size: Dim, start: Dim, end: Dim, stride: int) -> tuple[Dim, Dim]:
    """Where a slice begins and how many elements it takes, by NumPy's rules."""
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        taken = range(size)[slice(start, end if end >= -size or stride > 0 else None, stride)]
        return (taken.start if len(taken) else 0), len(taken)
    if stride > 0:
        begin, stop = _clamped(start, size, 0, size), _clamped(end, size, 0, size)
        return begin, _not_negative(ceil_div(stop - begin, stride))
    begin, stop = _clamped(start, size, 0, size - 1), _clamped(end, size, -1, size - 1)
    return begin, _not_negative(ceil_div(begin - stop, -stride))


def _clamped(position: Dim, size: Dim, least: Dim, most: Dim) -> Dim:
    """A position counted from the end where it is negative, and moved into the bounds; simplified where it can be."""
    low, high = bounds(size)
    if isinstance(position, int):
        if position < 0:
            position = size + position if position >= -high else least
        elif position > high:
            return most
        if isinstance(position, int) and position <= low - (0 if most == size else 1):
            return position
    if position == size:
        return most
    return _not_less(minimum(position, most), least)


def _not_less(value: Dim, least: Dim) -> Dim:
    return value if isinstance(least, int) and bounds(value)[0] >= least else maximum(value, least)


def _not_negative(value: Dim) -> Dim:
    return _not_less(value, 0)


@handler("Gather")
def gather(step: Step) -> Tensor:
    x, indices = step.input(0), step.input(1)
    return step.emit("gather", x, indices, axis=step.axis(step.integer("axis", 0), x.rank))
