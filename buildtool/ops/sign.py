"""sign: -1, 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Sign(UnaryOperator):
    """Input x, any numbers. Not a number stays what it is."""

    name: ClassVar[str] = "sign"
    floats_only: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        return np.sign(x)
