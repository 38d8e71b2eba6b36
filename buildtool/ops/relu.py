"""relu: y = max(x, 0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Relu(UnaryOperator):
    """Input x, any numbers."""

    name: ClassVar[str] = "relu"
    floats_only: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        return _activation.relu(x)
