"""Lists of tensors, and the arrays of tensors of TensorFlow 1, whose flow stands for the list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.lists import OpenList, empty_list, item_of, open_list, shaped, with_item, with_last
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import element_type
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


def _item_shape(step: Step, index: int) -> tuple[int, ...] | None:
    """The shape of the tensors of a list, as an input states it; None where it leaves something open."""
    stated = step.known(index, "shape of elements")
    if stated.ndim > 1 or stated.dtype == object:
        return None
    sizes = tuple(int(size) for size in stated.reshape(-1))
    return None if stated.ndim == 0 or min(sizes, default=0) < 0 else sizes


def _stated(step: Step, items: Tensor, index: int) -> Tensor:
    """A list that is read, though nothing may be written in it: then what reads it says what it holds."""
    if not isinstance(items, OpenList):
        return items
    shape = _item_shape(step, index)
    if shape is None:
        step.unsupported("nothing says which shape the tensors of its list have", "state the shape of its elements")
    return shaped(step, items, shape)


def _made(step: Step, count: Dim, shape: tuple[int, ...] | None, dtype: DType) -> Tensor:
    return open_list(count, dtype) if shape is None else empty_list(step, count, shape, dtype)


@handler("TensorListReserve")
def reserve(step: Step) -> Tensor:
    count = step.known_dim(1, "number of elements")
    return _made(step, count, _item_shape(step, 0), element_type(step, "element_dtype"))


@handler("EmptyTensorList")
def empty(step: Step) -> Tensor:
    return _made(step, 0, _item_shape(step, 0), element_type(step, "element_dtype"))


@handler("TensorListFromTensor")
def from_tensor(step: Step) -> Tensor:
    return step.input(0)


@handler("TensorListStack")
def stack(step: Step) -> Tensor:
    items, count = _stated(step, step.input(0), 1), step.integer("num_elements", -1)
    length = step.size(items, 0)
    if count >= 0 and isinstance(length, int) and length != count:
        step.malformed(f"a list of {length} tensors instead of {count}")
    return items


@handler("TensorListGetItem")
def get(step: Step) -> Tensor:
    return item_of(step, _stated(step, step.input(0), 2), step.input(1))


@handler("TensorListGather")
def gather(step: Step) -> Tensor:
    return step.emit("gather", _stated(step, step.input(0), 2), step.input(1), axis=0)


@handler("TensorListSetItem")
def put(step: Step) -> Tensor:
    if step.integer("resize_if_index_out_of_bounds", 0):
        step.unsupported("a list that grows where it is written", "reserve a list of its final size")
    return with_item(step, step.input(0), step.input(1), step.input(2))


@handler("TensorListPushBack")
def push(step: Step) -> Tensor:
    return with_last(step, step.input(0), step.input(1))


@handler("TensorListPopBack")
def pop(step: Step) -> Sequence[Tensor]:
    items = _stated(step, step.input(0), 1)
    count = items.shape[0]
    if count == 0:
        step.malformed("it takes a tensor out of an empty list")
    ones, zeros = (1,) * items.rank, (0,) * items.rank
    rest = step.emit("slice", items, starts=zeros, steps=ones, sizes=(count - 1, *items.shape[1:]))
    last = step.emit("slice", items, starts=(count - 1, *zeros[1:]), steps=ones, sizes=(1, *items.shape[1:]))
    return rest, step.reshape(last, items.shape[1:])


@handler("TensorListLength", "TensorArraySizeV3")
def length(step: Step) -> Tensor:
    items = step.input(0 if step.node.op == "TensorListLength" else 1)
    return Tensor.of(np.array(items.shape[0], object), DType.S32)


@handler("TensorListElementShape")
def element_shape(step: Step) -> Tensor:
    items = step.input(0)
    if isinstance(items, OpenList):
        step.unsupported("nothing says which shape the tensors of its list have", "state the shape of its elements")
    shape = np.empty(items.rank - 1, object)
    shape[:] = items.shape[1:]
    return Tensor.of(shape, element_type(step, "shape_type"))


# -- arrays of TensorFlow 1 --------------------------------------------------------------------------------------------
@handler("TensorArrayV3")
def array(step: Step) -> Sequence[Tensor]:
    """A handle, which says nothing here, and what flows from one use to the next."""
    if step.integer("dynamic_size", 0):
        step.unsupported("an array that grows where it is written", "give it its final size")
    count = step.known_dim(0, "number of elements")
    shape = step.integers("element_shape", ()) if step.has("element_shape") else (-1,)
    known = shape if min(shape, default=0) >= 0 else None
    return step.constant(np.zeros((), np.int32)), _made(step, count, known, element_type(step, "dtype"))


@handler("TensorArrayReadV3")
def array_read(step: Step) -> Tensor:
    return item_of(step, _array(step, 2), step.input(1))


@handler("TensorArrayGatherV3")
def array_gather(step: Step) -> Tensor:
    return step.emit("gather", _array(step, 2), step.input(1), axis=0)


@handler("TensorArrayWriteV3")
def array_write(step: Step) -> Tensor:
    return with_item(step, step.input(3), step.input(1), step.input(2))


@handler("TensorArrayScatterV3")
def array_scatter(step: Step) -> Tensor:
    places, items = step.input(1), step.input(2)
    into = shaped(step, step.input(3), items.shape[1:])
    known = places.content
    step.axis(0, into.rank)
    if known is not None and into.shape[0] == known.size and (known == np.arange(known.size)).all():
        return items
    return step.emit("scatter_nd", into, step.reshape(places, (*places.shape, 1)), items, reduction="none")


def _array(step: Step, index: int) -> Tensor:
    items = step.input(index)
    if isinstance(items, OpenList):
        step.unsupported("an array is read before anything is written", "state the shape of its elements")
    return items
