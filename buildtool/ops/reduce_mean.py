"""reduce_mean: the mean of the elements along the axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._reduction import ReduceOperator, accumulator


@dataclass(frozen=True)
class ReduceMean(ReduceOperator):
    """Input x, any numbers; that of integers is cut towards zero.

    `axes` rise; without `keepdims` they go.
    """

    name: ClassVar[str] = "reduce_mean"

    def compute(self, x: Array) -> Array:
        if np.issubdtype(x.dtype, np.floating):
            return np.asarray(x.mean(axis=self.axes, keepdims=self.keepdims, dtype=accumulator(x)))
        total = np.asarray(x.sum(axis=self.axes, keepdims=self.keepdims, dtype=x.dtype))
        count = math.prod(x.shape[axis] for axis in self.axes)
        magnitude = np.abs(total.astype(object)) // count
        return np.asarray(np.where(total < 0, -magnitude, magnitude))
