"""bitwise_and: the bits that both have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BitwiseOperator


@dataclass(frozen=True)
class BitwiseAnd(BitwiseOperator):
    """Inputs a, b (broadcast), integers."""

    name: ClassVar[str] = "bitwise_and"

    def compute(self, a: Array, b: Array) -> Array:
        return np.bitwise_and(a, b)
