"""acos: the arccosine; not a number outside -1..1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Acos(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "acos"

    def compute(self, x: Array) -> Array:
        return np.arccos(x)
