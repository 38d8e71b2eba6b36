"""reduce_min: the smallest element along the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._reduction import ReduceOperator


@dataclass(frozen=True)
class ReduceMin(ReduceOperator):
    """Input x, any numbers."""

    name: ClassVar[str] = "reduce_min"

    def compute(self, x: Array) -> Array:
        return np.asarray(x.min(axis=self.axes, keepdims=self.keepdims))
