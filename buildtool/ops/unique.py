"""unique: the different slices along an axis, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator, most_of
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import moved


@dataclass(frozen=True, kw_only=True)
class Unique(DataSizedOperator):
    """Input x; outputs the different slices, their first places, the new place of every slice of x, and counts (s64).

    Slices rise, element by element in row-major order, or keep the order of their first places where not `sorted`.
    NaN equals NaN and is larger than all numbers.

    `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "unique"
    outputs: ClassVar[int | None] = 4

    axis: int
    sorted: bool

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_axis(self.axis, x.rank)
        size = self.sized(most_of(x.shape[self.axis : self.axis + 1]))
        found = TensorType(DType.S64, (size,))
        places = TensorType(DType.S64, (x.shape[self.axis],))
        return moved(x, (*x.shape[: self.axis], size, *x.shape[self.axis + 1 :])), found, places, found

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        slices = np.moveaxis(x, self.axis, 0)
        slices = slices.reshape(slices.shape[0], -1 if slices.size else 0)
        order = np.lexsort(slices.T[::-1]) if slices.size else np.arange(slices.shape[0])
        in_order = slices[order]
        same = (in_order[1:] == in_order[:-1]) | ((in_order[1:] != in_order[1:]) & (in_order[:-1] != in_order[:-1]))
        begins = np.concatenate([np.ones(min(len(order), 1), np.bool_), ~same.all(axis=1)])
        group = np.cumsum(begins) - 1  # of every slice, in sorted order
        first = order[begins]  # the sort is stable: a group begins with its first place
        rank = np.arange(len(first)) if self.sorted else np.argsort(np.argsort(first))
        first = first if self.sorted else np.sort(first)
        inverse = np.empty(len(order), np.int64)
        inverse[order] = rank[group]
        counts = np.bincount(inverse, minlength=len(first)).astype(np.int64)
        return np.take(x, first, axis=self.axis), first.astype(np.int64), inverse, counts
