"""Strided slices as TensorFlow has them: lists of begins, ends and strides, and masks of bits about their entries."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.slices import interval
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim


@dataclass
class _Cut:
    """What a strided slice makes of the axes that it has been told of so far."""

    starts: list[Dim]
    steps: list[int]
    sizes: list[Dim]
    shape: list[Dim]  # of the result


def strided_slice(step: Step) -> Tensor:
    """Each bit of a mask is about one entry of the lists: from the start, to the end, a new axis, an axis that goes.

    With `offset` (TFLite) ends count from the begins.
    """
    x = step.input(0)
    begins, ends, steps = step.known_dims(1, "begin"), step.known_dims(2, "end"), step.known_ints(3, "strides")
    if not len(begins) == len(ends) == len(steps) or 0 in steps:
        step.malformed(f"{len(begins)} begins, {len(ends)} ends and the steps {list(steps)}")
    masks = {name: step.integer(f"{name}_mask", 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    told = [
        index for index in range(len(begins)) if not (masks["new_axis"] | masks["ellipsis"]) >> index & 1
    ]  # entries that are about one axis of the input
    cut = _Cut([], [], [], [])
    for index in range(len(begins)):
        if masks["ellipsis"] >> index & 1:
            later = sum(other > index for other in told)
            _whole(step, x, cut, x.rank - later)
        elif masks["new_axis"] >> index & 1:
            cut.shape.append(1)
        else:
            entry = begins[index], ends[index], steps[index]
            if step.integer("offset", 0):
                entry = _behind_begin(entry, step.size(x, len(cut.sizes)))
            _one_axis(step, x, cut, entry, {k: m >> index & 1 for k, m in masks.items()})
    _whole(step, x, cut, x.rank)
    y = step.emit("slice", x, starts=tuple(cut.starts), steps=tuple(cut.steps), sizes=tuple(cut.sizes))
    return step.reshape(y, tuple(cut.shape))


def _behind_begin(entry: tuple[Dim, Dim, int], size: Dim) -> tuple[Dim, Dim, int]:
    """The entry with an end that counts as all others do."""
    begin, length, stride = entry
    first = size + begin if isinstance(begin, int) and begin < 0 else begin
    return first, first + length, stride


def _whole(step: Step, x: Tensor, cut: _Cut, until: int) -> None:
    """The axes up to this one are taken as they are."""
    for axis in range(len(cut.sizes), until):
        cut.starts.append(0)
        cut.steps.append(1)
        cut.sizes.append(x.shape[axis])
        cut.shape.append(x.shape[axis])


def _one_axis(step: Step, x: Tensor, cut: _Cut, entry: tuple[Dim, Dim, int], mask: dict[str, int]) -> None:
    axis = len(cut.sizes)
    count: Dim = 1
    if axis >= x.rank:
        step.malformed(f"it slices more axes than the {x.rank} of its input")
    begin, end, stride = entry
    size = x.shape[axis]
    if mask["shrink_axis"]:
        first = begin
        if isinstance(begin, int) and begin < 0:
            first = size + begin
        start = first
        cut.steps.append(1)
    else:
        low: Dim = begin if not mask["begin"] else (0 if stride > 0 else size - 1)
        high: Dim = end if not mask["end"] else (size if stride > 0 else -(2**31))
        start, count = interval(size, low, high, stride)
        cut.steps.append(stride)
        cut.shape.append(count)
    cut.starts.append(start)
    cut.sizes.append(count)


def reversed_along(step: Step) -> Tensor:
    """The first input backwards along the axes that the second one lists."""
    x = step.input(0)
    axes = step.axes(step.known_ints(1, "axes"), x.rank)
    return step.emit(
        "slice",
        x,
        starts=tuple(dim - 1 if axis in axes else 0 for axis, dim in enumerate(x.shape)),
        steps=tuple(-1 if axis in axes else 1 for axis in range(x.rank)),
        sizes=x.shape,
    )
