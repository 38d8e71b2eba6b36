"""ceil: the smallest whole number that is not below x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Ceil(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "ceil"

    def compute(self, x: Array) -> Array:
        return np.ceil(x)
