"""round: the nearest whole number; of two equally near ones the even one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Round(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "round"

    def compute(self, x: Array) -> Array:
        return np.rint(x)
