"""minimum: the smaller of two numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True)
class Minimum(BinaryOperator):
    """Inputs a, b (broadcast), any numbers."""

    name: ClassVar[str] = "minimum"
    keeps_numbers: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)
