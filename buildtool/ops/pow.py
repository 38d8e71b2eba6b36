"""pow: y = a ** b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True)
class Pow(BinaryOperator):
    """Inputs a, b (broadcast), any numbers. Integers wrap around; a negative power of one is cut towards zero."""

    name: ClassVar[str] = "pow"

    def compute(self, a: Array, b: Array) -> Array:
        if np.issubdtype(a.dtype, np.floating):
            return np.power(a, b)
        power = np.power(a, np.maximum(b, 0))
        inverse = np.where(np.abs(a) == 1, np.where(b % 2 == 0, 1, a), 0)
        return np.where(b < 0, inverse, power)
