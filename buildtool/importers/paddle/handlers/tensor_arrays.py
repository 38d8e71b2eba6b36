"""Arrays of tensors: a tensor with a row for each element there may be, and a number of those that there are."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.arrays import LENGTH_AFTER_WRITE
from buildtool.importers.paddle.beams import GROWING
from buildtool.importers.paddle.registry import Outputs, handler, node_of, one, wants
from buildtool.importers.paddle.values import as_type, flag, plus
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_MOST_ELEMENTS = 2**16


def _optional(step: Step, slot: str) -> Tensor | None:
    places = node_of(step).slots.get(slot, ())
    return step.optional(places[0]) if places else None


def _index(step: Step) -> Tensor:
    return as_type(step, step.reshape(one(step, "I"), ()), DType.S64)


@handler("write_to_array")
def write(step: Step) -> Tensor:
    """All elements have one type; the array grows to where it is written."""
    x, index, array = one(step, "X"), _index(step), _optional(step, "Array")
    most = step.most(index)
    if most is None:
        step.unsupported(
            "the number of elements of its array is unbounded, so their memory is unknown",
            "compare the counter of the loop with a constant, or with a size that input_shapes bound",
        )
    if not 0 <= most < _MOST_ELEMENTS:
        step.unsupported(f"an element at place {most} of an array", f"arrays have up to {_MOST_ELEMENTS} elements")
    row = step.reshape(x, (1, *x.shape))
    if array is None:
        array = _zeros(step, row, most + 1)
    if step.integer(GROWING, 0):
        array = _with_rows(step, array, x)
    if array.dtype is not x.dtype or array.shape[1:] != x.shape:
        step.unsupported(
            f"elements of an array have different types: {array.type} holds rows of its own size, here comes {x.type}",
            "write elements of one shape, padded where they have less",
        )
    rows = array.shape[0]
    assert isinstance(rows, int)
    if most >= rows:
        array = step.emit("concat", array, _zeros(step, row, most + 1 - rows), axis=0)
    if most == 0 and array.shape[0] == 1:
        return row
    return step.emit("scatter_nd", array, step.reshape(index, (1, 1)), row, reduction="none")


def _with_rows(step: Step, array: Tensor, x: Tensor) -> Tensor:
    """Elements of one row, repeated where the new one has more."""
    if array.shape[1:2] != (1,) or array.shape[2:] != x.shape[1:]:
        return array
    return step.emit("broadcast_to", array, shape=(array.shape[0], *x.shape))


def _zeros(step: Step, row: Tensor, count: int) -> Tensor:
    zero = step.constant(np.zeros((), row.dtype.numpy))
    return step.emit("broadcast_to", zero, shape=(count, *row.shape[1:]))


@handler(LENGTH_AFTER_WRITE)
def length_after_write(step: Step) -> Tensor:
    after, before = plus(step, _index(step), step.constant(np.array(1))), _optional(step, "Length")
    after = step.reshape(after, (1,))
    return after if before is None else step.emit("maximum", after, before)


@handler("read_from_array")
def read(step: Step) -> Tensor:
    array = _optional(step, "Array")
    if array is None:
        step.malformed("its array has no elements")
    return step.emit("gather", array, _index(step), axis=0)


@handler("lod_array_length")
def length(step: Step) -> Tensor:
    found = _optional(step, "Length")
    return step.constant(np.zeros(1, np.int64)) if found is None else found


@handler("tensor_array_to_tensor")
def joined(step: Step) -> Outputs:
    """All elements along an axis, stacked or one behind the other; and the size that each has along it."""
    array, count = _optional(step, "Array"), _optional(step, "Length")
    if array is None or count is None:
        step.malformed("its array has no elements")
    rows = _first_rows(step, array, count)
    is_stacked, shape = flag(step, "use_stack"), array.shape[1:]
    axis = step.axis(step.integer("axis", 0), len(shape) + is_stacked)
    y = step.transpose(rows, [*range(1, axis + 1), 0, *range(axis + 1, rows.rank)])
    if not is_stacked:
        y = step.reshape(y, (*shape[:axis], rows.shape[0] * shape[axis], *shape[axis + 1 :]))
    if not wants(step, "OutIndex"):
        return {"Out": y}
    size = shape[axis] if axis < len(shape) else 1
    if not isinstance(size, int):
        step.unsupported("elements of a size that is known only at run time", "fix the input shapes")
    return {
        "Out": y,
        "OutIndex": step.emit("broadcast_to", step.constant(np.array(size, np.int32)), shape=rows.shape[:1]),
    }


def _first_rows(step: Step, array: Tensor, count: Tensor) -> Tensor:
    """The elements that there are."""
    room = array.shape[0]
    assert isinstance(room, int)
    if count.content is not None:
        number = int(count.content.reshape(-1)[0])
        if number == room:
            return array
        sizes = (number, *array.shape[1:])
        return step.emit("slice", array, starts=(0,) * array.rank, steps=(1,) * array.rank, sizes=sizes)
    there = step.emit("less", step.constant(np.arange(room)), count)
    (places,) = step.emit_sized("non_zero", room, there)
    return step.emit("gather", array, step.reshape(places, (places.shape[-1],)), axis=0)
