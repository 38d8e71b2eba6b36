"""clip: y = max(low, min(high, x))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, OperatorError
from buildtool.ops import _activation
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Clip(UnaryOperator):
    """Input x, any numbers. A bound may be infinite; those of integers are rounded inwards.

    `low` is not above `high`.
    """

    name: ClassVar[str] = "clip"
    floats_only: ClassVar[bool] = False

    low: float
    high: float

    def check(self) -> None:
        if self.low > self.high:
            raise OperatorError(f"there are no values between 'low' {self.low} and 'high' {self.high}")

    def compute(self, x: Array) -> Array:
        return _activation.clip(x, self.low, self.high)
