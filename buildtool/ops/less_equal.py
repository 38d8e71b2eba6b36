"""less_equal: whether a is below or equal to b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import Comparison


@dataclass(frozen=True)
class LessEqual(Comparison):
    """Inputs a, b (broadcast), any numbers; the result is bool. What is not a number compares false.

    Greater or equal is this with its inputs exchanged.
    """

    name: ClassVar[str] = "less_equal"

    def compute(self, a: Array, b: Array) -> Array:
        return np.less_equal(a, b)
