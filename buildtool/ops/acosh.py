"""acosh: the inverse of the hyperbolic cosine; not a number below 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Acosh(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "acosh"

    def compute(self, x: Array) -> Array:
        return np.arccosh(x)
