"""reduce_sum: the sum of the elements along the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._reduction import ReduceOperator, accumulator


@dataclass(frozen=True)
class ReduceSum(ReduceOperator):
    """Input x, any numbers; integers wrap around.

    `axes` rise; without `keepdims` they go.
    """

    name: ClassVar[str] = "reduce_sum"
    empty_allowed: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        return np.asarray(x.sum(axis=self.axes, keepdims=self.keepdims, dtype=accumulator(x)))
