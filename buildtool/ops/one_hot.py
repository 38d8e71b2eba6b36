"""one_hot: for every index, a row that is off everywhere but at that place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._indices import require_indices
from buildtool.ops._shapes import number, require_axis, require_rank
from buildtool.ops._types import plain


@dataclass(frozen=True)
class OneHot(Operator):
    """Inputs indices (s32 or s64; negative ones count from the end), values[2] of any element type: off and on.

    A new axis of `depth` elements comes in at `axis`. An index outside gives a row that is off everywhere.
    """

    name: ClassVar[str] = "one_hot"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    axis: int
    depth: int

    def check(self) -> None:
        if self.depth < 1:
            raise OperatorError(f"'depth' is {self.depth}, which is not positive")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        indices, values = self.operands(inputs)
        require_indices(indices)
        require_axis(self.axis, indices.rank + 1)
        require_rank(values, 1, "the list of values")
        if number(values.shape[0], "the count of values") != 2:
            raise OperatorError(f"the values are two, off and on, but their type is {values}")
        return (plain(values, (*indices.shape[: self.axis], self.depth, *indices.shape[self.axis :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        indices, values = inputs
        wide = np.expand_dims(indices.astype(np.int64), self.axis)
        places = np.arange(self.depth).reshape((-1,) + (1,) * (indices.ndim - self.axis))
        hot = (wide == places) | (wide + self.depth == places)
        return (np.where(hot, values[1], values[0]),)
