"""celu: y = x where x >= 0, else alpha * (exp(x / alpha) - 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import require_finite


@dataclass(frozen=True)
class Celu(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "celu"

    alpha: float

    def check(self) -> None:
        require_finite("alpha", self.alpha)
        if self.alpha == 0:
            raise OperatorError("'alpha' is 0, and celu divides by it")

    def compute(self, x: Array) -> Array:
        alpha = x.dtype.type(self.alpha)
        return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0) / alpha), x)
