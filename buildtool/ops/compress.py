"""compress: the slices along an axis for which a condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator
from buildtool.ops._shapes import require_axis, require_rank, show
from buildtool.ops._types import moved


@dataclass(frozen=True, kw_only=True)
class Compress(DataSizedOperator):
    """Inputs x of any element type, condition (bool, one per slice; slices behind its end are left out).

    `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "compress"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, condition = self.operands(inputs)
        require_axis(self.axis, x.rank)
        require_rank(condition, 1, "the condition")
        if condition.dtype is not DType.BOOL:
            raise OperatorError(f"the condition is bool, not {condition.dtype.value}")
        if bounds(x.shape[self.axis] - condition.shape[0])[1] < 0:
            raise OperatorError(f"the condition is longer than axis {self.axis} of {show(x.shape)}")
        most = min(bounds(condition.shape[0])[1], bounds(x.shape[self.axis])[1])
        return (moved(x, (*x.shape[: self.axis], self.sized(most), *x.shape[self.axis + 1 :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, condition = inputs
        return (np.compress(condition, x, axis=self.axis),)
