"""Operators that pick elements: slices, gathers, places of extremes, the largest ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.slices import interval
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@handler("SLICE")
def slice_(step: Step) -> Tensor:
    x = step.input(0)
    starts, sizes = step.known_dims(1, "starts"), list(step.known_dims(2, "sizes"))
    if not len(starts) == len(sizes) == x.rank:
        step.malformed(f"{len(starts)} starts and {len(sizes)} sizes for a tensor of rank {x.rank}")
    for axis, size in enumerate(sizes):
        if size == -1:
            sizes[axis] = x.shape[axis] - starts[axis]
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=tuple(sizes))


@dataclass
class _Cut:
    """What a strided slice makes of the axes that it has been told of so far."""

    starts: list[Dim]
    steps: list[int]
    sizes: list[Dim]
    shape: list[Dim]  # of the result


@handler("STRIDED_SLICE")
def strided_slice(step: Step) -> Tensor:
    """Each bit of a mask is about one entry of the lists: from the start, to the end, a new axis, an axis that goes."""
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
            _one_axis(
                step, x, cut, (begins[index], ends[index], steps[index]), {k: m >> index & 1 for k, m in masks.items()}
            )
    _whole(step, x, cut, x.rank)
    y = step.emit("slice", x, starts=tuple(cut.starts), steps=tuple(cut.steps), sizes=tuple(cut.sizes))
    return step.reshape(y, tuple(cut.shape))


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


@handler("GATHER")
def gather(step: Step) -> Tensor:
    """Batch axes are those that both inputs have in front."""
    x, places = step.input(0), step.input(1)
    batches = step.integer("batch_dims", 0)
    batches = step.axis(batches, places.rank + 1) if batches else 0
    axis = step.axis(step.integer("axis", 0), x.rank)
    if not batches:
        return step.emit("gather", x, _as_places(step, places), axis=axis)
    if axis != batches:
        step.unsupported(f"a gather along axis {axis} with {batches} batch axes", "gather along the first axis behind")
    rows = step.reshape(_as_places(step, places), (*places.shape, 1))
    return step.emit("gather_nd", x, rows, batch_dims=batches)


def _as_places(step: Step, places: Tensor) -> Tensor:
    return places if places.dtype in (DType.S32, DType.S64) else step.emit("cast", places, to=DType.S32)


@handler("GATHER_ND")
def gather_nd(step: Step) -> Tensor:
    return step.emit("gather_nd", step.input(0), _as_places(step, step.input(1)), batch_dims=0)


@handler("SCATTER_ND")
def scatter_nd(step: Step) -> Tensor:
    """What falls on one place is added."""
    places, updates = step.input(0), step.input(1)
    nothing = step.constant(np.zeros((), updates.dtype.numpy))
    empty = step.emit("broadcast_to", nothing, shape=step.known_dims(2, "shape"))
    return step.emit("scatter_nd", empty, places, updates, reduction="add")


@handler("SPARSE_TO_DENSE")
def dense_from_places(step: Step) -> Tensor:
    """Inputs: places (one, a list, or rows of them), the shape, values for them, what stands elsewhere."""
    places, shape = _as_places(step, step.input(0)), step.known_dims(1, "shape")
    values, elsewhere = step.input(2), step.reshape(step.input(3), ())
    rows = places.shape[0] if places.rank else 1
    if places.rank < 2:
        places = step.reshape(places, (rows, 1))
    if values.rank == 0:
        values = step.emit("broadcast_to", values, shape=(rows,))
    empty = step.emit("broadcast_to", elsewhere, shape=shape)
    return step.emit("scatter_nd", empty, places, values, reduction="none")


@handler("ARG_MAX", "ARG_MIN")
def place_of_extreme(step: Step) -> Tensor:
    x = step.input(0)
    (axis,) = step.known_ints(1, "axis")
    op = "argmax" if step.node.op == "ARG_MAX" else "argmin"
    place = step.emit(op, x, axis=step.axis(axis, x.rank), keepdims=False, select_last_index=False)
    wanted = step.node.dtypes[step.node.outputs[0]]
    return place if wanted is DType.S64 else step.emit("cast", place, to=wanted)


@handler("TOPK_V2")
def largest(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    (count,) = step.known_dims(1, "k")
    values, places = step.emit_all("topk", x, axis=x.rank - 1, k=(count,), largest=True)
    return values, step.emit("cast", places, to=step.node.dtypes[step.node.outputs[1]])


@handler("ONE_HOT")
def one_hot(step: Step) -> Tensor:
    places, (depth,) = step.input(0), step.known_ints(1, "depth")
    axis = step.integer("axis", -1)
    on, off = (step.reshape(real(step, index), (1,)) for index in (2, 3))
    values = step.emit("concat", off, on, axis=0)
    axis = step.axis(axis, places.rank + 1)
    # A negative place is off everywhere here, and counts from the end in the graph.
    least = step.constant(np.array(-1, places.dtype.numpy))
    beyond = step.constant(np.array(depth, places.dtype.numpy))
    safe = step.emit("where", step.emit("less_equal", places, least), beyond, places)
    return step.emit("one_hot", _as_places(step, safe), values, axis=axis, depth=depth)


@handler("WHERE")
def places_of_true(step: Step) -> Tensor:
    x = step.input(0)
    if x.rank == 0:
        step.unsupported("the places in a tensor without axes", "give it an axis")
    most: Dim = 1
    for dim in x.shape:
        most = dim * most
    (places,) = step.emit_sized("non_zero", most, x)
    return step.transpose(places, (1, 0))
