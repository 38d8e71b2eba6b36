"""sub: y = a - b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True)
class Sub(BinaryOperator):
    """Inputs a, b (broadcast), any numbers; integers wrap around."""

    name: ClassVar[str] = "sub"

    def compute(self, a: Array, b: Array) -> Array:
        return a - b
