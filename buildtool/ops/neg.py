"""neg: y = -x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Neg(UnaryOperator):
    """Input x, any numbers; integers wrap around."""

    name: ClassVar[str] = "neg"
    floats_only: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        return np.negative(x)
