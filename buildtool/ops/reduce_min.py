"""reduce_min: the smallest element along the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._reduction import ReduceOperator


@dataclass(frozen=True)
class ReduceMin(ReduceOperator):
    """Input x, any numbers; of none it is the largest number of the type.

    `axes` rise; without `keepdims` they go.
    """

    name: ClassVar[str] = "reduce_min"
    keeps_numbers: ClassVar[bool] = True
    empty_allowed: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        floating = np.issubdtype(x.dtype, np.floating)
        neutral = np.inf if floating else np.iinfo(x.dtype).max
        return np.asarray(x.min(axis=self.axes, keepdims=self.keepdims, initial=neutral))
