"""Operators that pick elements by their places, as TensorFlow and its relatives have them."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, product
from buildtool.ir.types import DType


def as_places(step: Step, places: Tensor) -> Tensor:
    """Numbers of a type that says where something is."""
    return places if places.dtype in (DType.S32, DType.S64) else step.emit("cast", places, to=DType.S32)


def gathered(step: Step, x: Tensor, places: Tensor, axis: int, batches: int) -> Tensor:
    """What stands at places along an axis; `batches` axes are those that both have in front."""
    batches = step.axis(batches, places.rank + 1) if batches else 0
    if not batches:
        return step.emit("gather", x, as_places(step, places), axis=axis)
    if axis != batches:
        step.unsupported(f"a gather along axis {axis} with {batches} batch axes", "gather along the first axis after")
    rows = step.reshape(as_places(step, places), (*places.shape, 1))
    return step.emit("gather_nd", x, rows, batch_dims=batches)


def marked(step: Step, places: Tensor, depth: int, on: Tensor, off: Tensor, axis: int) -> Tensor:
    """Rows of `depth` elements: `on` at the place, `off` elsewhere; all off where the place is not in the row."""
    values = step.emit("concat", step.reshape(off, (1,)), step.reshape(on, (1,)), axis=0)
    axis = step.axis(axis, places.rank + 1)
    if places.dtype in (DType.U8, DType.U16, DType.U32, DType.U64, DType.BOOL) or not places.dtype.is_integer:
        places = as_places(step, places)
    if not 0 <= depth < 2**31:
        step.malformed(f"its depth is {depth}")
    # A negative place is off everywhere here, and counts from the end in the graph.
    least = step.constant(np.array(-1, places.dtype.numpy))
    beyond = step.constant(np.array(depth, places.dtype.numpy))
    safe = step.emit("where", step.emit("less_equal", places, least), beyond, places)
    return step.emit("one_hot", as_places(step, safe), values, axis=axis, depth=depth)


def places_of_true(step: Step, x: Tensor) -> Tensor:
    """A row of numbers for each element that is not 0: where it is."""
    if x.rank == 0:
        step.unsupported("the places in a tensor without axes", "give it an axis")
    (places,) = step.emit_sized("non_zero", product(x.shape), x)
    return step.transpose(places, (1, 0))


def counted(step: Step, count: Dim, dtype: DType, start: Dim = 0) -> Tensor:
    """start, start + 1, ...: `count` of them. Of run-time sizes, the part of a constant for the largest ones."""
    if isinstance(count, int) and isinstance(start, int):
        step.check_table(count)
        return step.constant((start + np.arange(count)).astype(dtype.numpy))
    most = bounds(start + count)[1]
    step.check_table(most)
    longest = step.constant(np.arange(most).astype(dtype.numpy))
    return step.emit("slice", longest, starts=(start,), steps=(1,), sizes=(count,))
