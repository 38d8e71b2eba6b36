"""div: y = a / b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True)
class Div(BinaryOperator):
    """Inputs a, b (broadcast), any numbers. Integers are cut towards zero; an integer over 0 is 0."""

    name: ClassVar[str] = "div"

    def compute(self, a: Array, b: Array) -> Array:
        if np.issubdtype(a.dtype, np.floating):
            return a / b
        quotient = a // b  # rounds down, and gives 0 where b is 0
        inexact = (quotient * b != a) & (b != 0)
        return np.asarray(quotient + (inexact & ((a < 0) != (b < 0))).astype(a.dtype))
