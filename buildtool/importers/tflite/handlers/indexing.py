"""Operators that pick elements: slices, gathers, places of extremes, the largest ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import as_places, gathered, marked, places_of_true
from buildtool.importers.step import Step
from buildtool.importers.strided_slices import strided_slice
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real
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


handler("STRIDED_SLICE")(strided_slice)


@handler("GATHER")
def gather(step: Step) -> Tensor:
    """Batch axes are those that both inputs have in front."""
    x, places = step.input(0), step.input(1)
    axis = step.axis(step.integer("axis", 0), x.rank)
    return gathered(step, x, places, axis, step.integer("batch_dims", 0))


@handler("GATHER_ND")
def gather_nd(step: Step) -> Tensor:
    return step.emit("gather_nd", step.input(0), as_places(step, step.input(1)), batch_dims=0)


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
    places, shape = as_places(step, step.input(0)), step.known_dims(1, "shape")
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
    axis = step.known_int(1, "axis")
    op = "argmax" if step.node.op == "ARG_MAX" else "argmin"
    place = step.emit(op, x, axis=step.axis(axis, x.rank), keepdims=False, select_last_index=False)
    wanted = step.made_dtype(0)
    return place if wanted is DType.S64 else step.emit("cast", place, to=wanted)


@handler("TOPK_V2")
def largest(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    count = step.known_dim(1, "k")
    values, places = step.emit_all("topk", x, axis=x.rank - 1, k=(count,), largest=True)
    return values, step.emit("cast", places, to=step.made_dtype(1))


@handler("ONE_HOT")
def one_hot(step: Step) -> Tensor:
    places, depth = step.input(0), step.known_int(1, "depth")
    return marked(step, places, depth, real(step, 2), real(step, 3), step.integer("axis", 0))


@handler("WHERE")
def where(step: Step) -> Tensor:
    return places_of_true(step, step.input(0))
