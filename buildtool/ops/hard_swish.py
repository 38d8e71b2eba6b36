"""hard_swish: y = x * max(0, min(1, x / 6 + 0.5))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class HardSwish(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "hard_swish"

    def compute(self, x: Array) -> Array:
        return _activation.hard_swish(x)
