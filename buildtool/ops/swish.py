"""swish: y = x * sigmoid(x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Swish(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "swish"

    def compute(self, x: Array) -> Array:
        return _activation.swish(x)
