"""Lists of tensors of one shape: tensors whose first axis counts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, Shape
from buildtool.ir.types import DType, TensorType


@dataclass(eq=False)
class OpenList(Tensor):
    """A list whose tensors have no known shape yet. Nothing has been written into it."""


def open_list(count: Dim, dtype: DType) -> OpenList:
    return OpenList(TensorType(dtype, (count,)))


def empty_list(step: Step, count: Dim, shape: Shape, dtype: DType) -> Tensor:
    """A list of zeros."""
    return step.emit("broadcast_to", step.constant(np.zeros((), dtype.numpy)), shape=(count, *shape))


def shaped(step: Step, items: Tensor, shape: Shape) -> Tensor:
    """A list whose tensors have a shape."""
    return empty_list(step, items.shape[0], shape, items.dtype) if isinstance(items, OpenList) else items


def with_item(step: Step, items: Tensor, place: Tensor, item: Tensor) -> Tensor:
    """The list with another tensor in one place."""
    row = step.reshape(item, (1, *item.shape))
    if items.shape[0] == 1:
        return row
    places = step.reshape(place, (1, 1))
    return step.emit("scatter_nd", shaped(step, items, item.shape), places, row, reduction="none")


def item_of(step: Step, items: Tensor, place: Tensor) -> Tensor:
    """The tensor in one place."""
    return step.emit("gather", items, step.reshape(place, ()), axis=0)


def with_last(step: Step, items: Tensor, item: Tensor) -> Tensor:
    """The list with one more tensor behind it."""
    row = step.reshape(item, (1, *item.shape))
    return row if items.shape[0] == 0 else step.emit("concat", items, row, axis=0)
