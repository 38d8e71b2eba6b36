"""hardmax: 1 at the largest element along an axis, 0 elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import AxisOperator


@dataclass(frozen=True)
class Hardmax(AxisOperator):
    """Input x, floating-point numbers. Of several largest elements the first has the 1."""

    name: ClassVar[str] = "hardmax"

    def compute(self, x: Array) -> Array:
        y = np.zeros_like(x)
        np.put_along_axis(y, np.argmax(x, axis=self.axis, keepdims=True), 1, self.axis)
        return y
