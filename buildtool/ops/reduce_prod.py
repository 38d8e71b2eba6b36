"""reduce_prod: the product of the elements along the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._reduction import ReduceOperator, accumulator


@dataclass(frozen=True)
class ReduceProd(ReduceOperator):
    """Input x, any numbers; integers wrap around.

    `axes` rise; without `keepdims` they go.
    """

    name: ClassVar[str] = "reduce_prod"
    empty_allowed: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        return np.asarray(x.prod(axis=self.axes, keepdims=self.keepdims, dtype=accumulator(x)))
