"""atan: the arctangent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Atan(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "atan"

    def compute(self, x: Array) -> Array:
        return np.arctan(x)
