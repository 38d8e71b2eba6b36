"""Operators that pick elements: slices, gathers, tables, the largest ones, places that are true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, evaluator, handler, maybe, one
from buildtool.importers.paddle.values import (
    as_declared,
    as_type,
    dims,
    dtype_attribute,
    flag,
    one_dim,
    one_whole,
    real,
    scalar,
    whole,
    without,
)
from buildtool.importers.slices import interval
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ir.types import DType

#: Element types that kernels select from as they are; narrower ones become s32, in which they keep their order.
_SELECTED = (DType.F32, DType.F64, DType.S32, DType.U32, DType.S64, DType.U64)


@handler("slice")
def slice_(step: Step) -> Tensor:
    starts, ends = _bounds(step)
    return _sliced(step, starts, ends, (1,) * len(starts))


@handler("strided_slice")
def strided_slice(step: Step) -> Tensor:
    starts, ends = _bounds(step)
    return _sliced(step, starts, ends, whole(step, "strides", "StridesTensor", "StridesTensorList"))


def _bounds(step: Step) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    starts = dims(step, "starts", "StartsTensor", "StartsTensorList")
    return starts, dims(step, "ends", "EndsTensor", "EndsTensorList")


def _sliced(step: Step, starts: Sequence[Dim], ends: Sequence[Dim], steps: Sequence[int]) -> Tensor:
    """`decrease_axis`: axes of one element that go."""
    x = one(step, "Input")
    axes = step.axes(step.integers("axes"), x.rank)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        step.malformed("starts, ends, axes and steps differ in length, or a step is 0")
    first: list[Dim] = [0] * x.rank
    sizes, strides = list(x.shape), [1] * x.rank
    for axis, start, end, stride in zip(axes, starts, ends, steps, strict=True):
        first[axis], sizes[axis] = interval(x.shape[axis], start, end, stride)
        strides[axis] = stride
    y = step.emit("slice", x, starts=tuple(first), steps=tuple(strides), sizes=tuple(sizes))
    gone = step.axes(step.integers("decrease_axis", ()), x.rank)
    if any(y.shape[axis] != 1 for axis in gone):
        step.malformed(f"it removes axes {list(gone)} of {list(map(str, y.shape))}, but not all of them are 1")
    return as_declared(step, step.reshape(y, without(y.shape, gone))) if gone else y


@handler("gather")
def gather(step: Step) -> Tensor:
    """Indices may be a column; a 0-d index takes its axis away."""
    x, index = one(step, "X"), one(step, "Index")
    stated = maybe(step, "Axis") is not None or step.has("axis")
    axis = step.axis(step.whole(real(step, "axis", "Axis"), "axis") if stated else 0, x.rank)
    if index.rank == 2:
        index = step.reshape(index, (product(index.shape),))
    return step.emit("gather", x, index, axis=axis)


@handler("index_select")
def index_select(step: Step) -> Tensor:
    x = one(step, "X")
    return step.emit("gather", x, one(step, "Index"), axis=step.axis(step.integer("dim", 0), x.rank))


@handler("gather_nd")
def gather_nd(step: Step) -> Tensor:
    return step.emit("gather_nd", one(step, "X"), one(step, "Index"), batch_dims=0)


@handler("take_along_axis")
def take_along_axis(step: Step) -> Outputs:
    x = one(step, "Input")
    axis = step.axis(step.integer("Axis", 0), x.rank)
    return {"Result": step.emit("gather_elements", x, one(step, "Index"), axis=axis)}


@handler("index_sample")
def index_sample(step: Step) -> Tensor:
    return step.emit("gather_elements", one(step, "X"), one(step, "Index"), axis=1)


@handler("scatter")
def scatter(step: Step) -> Tensor:
    """Rows are replaced; or rows that are named become 0 and all updates are added."""
    x, rows, updates = one(step, "X"), one(step, "Ids"), one(step, "Updates")
    places = step.reshape(rows, (product(rows.shape), 1))
    if flag(step, "overwrite", True):
        return step.emit("scatter_nd", x, places, updates, reduction="none")
    zeros = step.emit("broadcast_to", scalar(step, 0, x), shape=updates.shape)
    cleared = step.emit("scatter_nd", x, places, zeros, reduction="none")
    return step.emit("scatter_nd", cleared, places, updates, reduction="add")


@handler("scatter_nd_add")
def scatter_nd_add(step: Step) -> Tensor:
    return step.emit("scatter_nd", one(step, "X"), one(step, "Index"), one(step, "Updates"), reduction="add")


@handler("lookup_table", "lookup_table_v2")
def lookup_table(step: Step) -> Tensor:
    """Rows of a table; that of the padding index is 0."""
    ids, table = one(step, "Ids"), one(step, "W")
    if step.node.op == "lookup_table":
        ids = step.reshape(ids, ids.shape[:-1])
    padding = step.integer("padding_idx", -1)
    if padding < 0 and padding != -1:
        padding += table.shape[0] if isinstance(table.shape[0], int) else 0
    y = step.emit("gather", table, ids, axis=0)
    if padding == -1:
        return y
    is_padding = step.emit("equal", ids, scalar(step, padding, ids))
    return step.emit("where", step.reshape(is_padding, (*ids.shape, 1)), scalar(step, 0, y), y)


@handler("one_hot", "one_hot_v2")
def one_hot(step: Step) -> Tensor:
    x = one(step, "X")
    depth = one_whole(step, "depth", "depth_tensor")
    if step.node.op == "one_hot" and x.rank and x.shape[-1] == 1:
        x = step.reshape(x, x.shape[:-1])
    if x.dtype not in (DType.S32, DType.S64):
        x = as_type(step, x, DType.S64)
    dtype = dtype_attribute(step, "dtype", DType.F32)
    step.check_table(depth)
    return step.emit("one_hot", x, step.constant(np.array([0, 1], dtype.numpy)), axis=x.rank, depth=depth)


@handler("top_k", "top_k_v2")
def top_k(step: Step) -> Outputs:
    x = one(step, "X")
    count = one_dim(step, "k", "K")
    axis = step.axis(step.integer("axis", -1), x.rank)
    values, places = _best(step, x, axis, count, flag(step, "largest", True))
    return {"Out": values, "Indices": places}


@handler("argsort")
def argsort(step: Step) -> Outputs:
    x = one(step, "X")
    axis = step.axis(step.integer("axis", -1), x.rank)
    values, places = _best(step, x, axis, x.shape[axis], flag(step, "descending"))
    return {"Out": values, "Indices": places}


def _best(step: Step, x: Tensor, axis: int, count: Dim, largest: bool) -> Sequence[Tensor]:
    selected = x if x.dtype in _SELECTED else step.emit("cast", x, to=DType.S32)
    values, places = step.emit_all("topk", selected, axis=axis, k=(count,), largest=largest)
    return as_type(step, values, x.dtype), places


@handler("where_index")
def places_that_are_true(step: Step) -> Tensor:
    """One row for each place."""
    x = one(step, "Condition")
    (columns,) = step.emit_sized("non_zero", product(x.shape), x)
    return step.transpose(columns, (1, 0))


@evaluator("where_index")
def known_places(step: Step) -> Tensor | None:
    known = one(step, "Condition").content
    return None if known is None else Tensor.of(np.argwhere(known).astype(np.int64))


@handler("masked_select")
def masked_select(step: Step) -> Outputs:
    x, mask = one(step, "X"), one(step, "Mask")
    count = product(x.shape)
    mask = step.emit("broadcast_to", mask, shape=x.shape) if mask.shape != x.shape else mask
    (y,) = step.emit_sized("compress", count, step.reshape(x, (count,)), step.reshape(mask, (count,)), axis=0)
    return {"Y": y}


@handler("multiplex")
def multiplex(step: Step) -> Tensor:
    """Row i comes from the input that the i-th index names."""
    index = one(step, "Ids")
    parts = [step.input(place) for place in range(len(step.inputs)) if step.inputs[place] is not index]
    stacked = [step.reshape(item, (1, *item.shape)) for item in parts]
    table = stacked[0] if len(stacked) == 1 else step.emit("concat", *stacked, axis=0)
    rows = parts[0].shape[0]
    if not isinstance(rows, int):
        step.unsupported("a run-time number of rows", "fix the input shapes")
    numbers = step.constant(np.arange(rows).reshape(rows, 1).astype(index.dtype.numpy))
    places = step.emit("concat", step.reshape(index, (rows, 1)), numbers, axis=1)
    return step.emit("gather_nd", table, places, batch_dims=0)
