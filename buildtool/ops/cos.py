"""cos: the cosine of an angle in radians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Cos(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "cos"

    def compute(self, x: Array) -> Array:
        return np.cos(x)
