"""hard_sigmoid: y = max(0, min(1, alpha * x + beta))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class HardSigmoid(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "hard_sigmoid"

    alpha: float
    beta: float

    def check(self) -> None:
        if not np.isfinite(self.alpha):
            raise OperatorError(f"'alpha' is {self.alpha}, which is not finite")
        if not np.isfinite(self.beta):
            raise OperatorError(f"'beta' is {self.beta}, which is not finite")

    def compute(self, x: Array) -> Array:
        return _activation.hard_sigmoid(x, self.alpha, self.beta)
