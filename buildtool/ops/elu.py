"""elu: y = x where x >= 0, else alpha * (exp(x) - 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Elu(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "elu"

    alpha: float

    def check(self) -> None:
        if not np.isfinite(self.alpha):
            raise OperatorError(f"'alpha' is {self.alpha}, which is not finite")

    def compute(self, x: Array) -> Array:
        return _activation.elu(x, self.alpha)
