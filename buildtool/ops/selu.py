"""selu: y = gamma * x where x > 0, else gamma * alpha * (exp(x) - 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import require_finite


@dataclass(frozen=True)
class Selu(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "selu"

    alpha: float
    gamma: float

    def check(self) -> None:
        require_finite("alpha", self.alpha)
        require_finite("gamma", self.gamma)

    def compute(self, x: Array) -> Array:
        alpha, gamma = x.dtype.type(self.alpha), x.dtype.type(self.gamma)
        return np.asarray(gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))))
