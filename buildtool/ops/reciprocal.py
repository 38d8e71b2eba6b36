"""reciprocal: y = 1 / x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Reciprocal(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "reciprocal"

    def compute(self, x: Array) -> Array:
        return 1 / x
