"""equal: whether two elements are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import Comparison


@dataclass(frozen=True)
class Equal(Comparison):
    """Inputs a, b (broadcast), any numbers or bool; the result is bool. What is not a number compares false."""

    name: ClassVar[str] = "equal"
    takes_bool: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array:
        return np.equal(a, b)
