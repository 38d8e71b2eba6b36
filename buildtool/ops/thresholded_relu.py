"""thresholded_relu: y = x where x > alpha, else 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import require_finite


@dataclass(frozen=True)
class ThresholdedRelu(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "thresholded_relu"

    alpha: float

    def check(self) -> None:
        require_finite("alpha", self.alpha)

    def compute(self, x: Array) -> Array:
        return np.where(x > x.dtype.type(self.alpha), x, x.dtype.type(0))
