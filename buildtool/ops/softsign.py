"""softsign: y = x / (1 + |x|)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Softsign(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "softsign"

    def compute(self, x: Array) -> Array:
        return np.asarray(x / (1 + np.abs(x)))
