"""sin: the sine of an angle in radians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Sin(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "sin"

    def compute(self, x: Array) -> Array:
        return np.sin(x)
