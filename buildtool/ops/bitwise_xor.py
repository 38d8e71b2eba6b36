"""bitwise_xor: the bits that exactly one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BitwiseOperator


@dataclass(frozen=True)
class BitwiseXor(BitwiseOperator):
    """Inputs a, b (broadcast), integers."""

    name: ClassVar[str] = "bitwise_xor"

    def compute(self, a: Array, b: Array) -> Array:
        return np.bitwise_xor(a, b)
