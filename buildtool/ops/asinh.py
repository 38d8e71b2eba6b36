"""asinh: the inverse of the hyperbolic sine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Asinh(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "asinh"

    def compute(self, x: Array) -> Array:
        return np.arcsinh(x)
