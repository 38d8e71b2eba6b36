"""bitwise_or: the bits that at least one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BitwiseOperator


@dataclass(frozen=True)
class BitwiseOr(BitwiseOperator):
    """Inputs a, b (broadcast), integers."""

    name: ClassVar[str] = "bitwise_or"

    def compute(self, a: Array, b: Array) -> Array:
        return np.bitwise_or(a, b)
