"""is_nan: whether it is not a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import Predicate


@dataclass(frozen=True)
class IsNan(Predicate):
    """Input x, floating-point numbers; the result is bool."""

    name: ClassVar[str] = "is_nan"

    def compute(self, x: Array) -> Array:
        return np.isnan(x)
