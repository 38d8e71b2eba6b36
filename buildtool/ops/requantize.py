"""requantize: y = x. What may change is how the numbers are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType
from buildtool.ops._types import plain, require_float


@dataclass(frozen=True)
class Requantize(Operator):
    """Input x of real numbers, quantised or not: on the border of what is stored, and between two ways of storing."""

    name: ClassVar[str] = "requantize"
    is_elementwise: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (inputs[0].copy(),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
