"""bit_shift: the bits of a moved by b places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BitwiseOperator
from buildtool.ops._shapes import require_one_of


@dataclass(frozen=True)
class BitShift(BitwiseOperator):
    """Inputs a, b (broadcast), integers; direction is left or right.

    To the right, signed numbers fill with their sign. Past the last bit, and where b is negative, only that is left.
    """

    name: ClassVar[str] = "bit_shift"

    direction: str

    def check(self) -> None:
        require_one_of("direction", self.direction, ("left", "right"))

    def compute(self, a: Array, b: Array) -> Array:
        past = (b < 0) | (b >= 8 * a.dtype.itemsize)
        zeros = np.zeros_like(a)
        places = np.where(past, np.zeros_like(b), b)
        if self.direction == "left":
            return np.where(past, zeros, np.left_shift(a, places))
        return np.where(past, np.where(a < 0, ~zeros, zeros), np.right_shift(a, places))
