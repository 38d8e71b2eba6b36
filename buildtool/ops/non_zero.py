"""non_zero: the places of all elements that are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator, most_of


@dataclass(frozen=True, kw_only=True)
class NonZero(DataSizedOperator):
    """Input x of any element type; output [rank of x, size] (s64): a column of indices per place, row-major.

    `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "non_zero"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        return (TensorType(DType.S64, (x.rank, self.sized(most_of(x.shape)))),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        return (np.array(np.nonzero(np.atleast_1d(x)), np.int64)[: x.ndim],)
