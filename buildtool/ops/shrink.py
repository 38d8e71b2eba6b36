"""shrink: y = x + bias where x < -lambd, x - bias where x > lambd, else 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import dtype_of
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import require_finite
from buildtool.ops.cast import Cast


@dataclass(frozen=True)
class Shrink(UnaryOperator):
    """Input x, any numbers. Integers are cut towards zero and limited to the range of their type."""

    name: ClassVar[str] = "shrink"
    floats_only: ClassVar[bool] = False

    lambd: float
    bias: float

    def check(self) -> None:
        require_finite("lambd", self.lambd)
        require_finite("bias", self.bias)

    def compute(self, x: Array) -> Array:
        if np.issubdtype(x.dtype, np.floating):
            lambd, bias = x.dtype.type(self.lambd), x.dtype.type(self.bias)
            return np.asarray(np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, x.dtype.type(0))))
        wide = x.astype(np.float64)
        y = np.where(wide < -self.lambd, wide + self.bias, np.where(wide > self.lambd, wide - self.bias, 0.0))
        (result,) = Cast(dtype_of(x)).reference(y)
        return result
