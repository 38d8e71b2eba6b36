"""identity: y = x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType


@dataclass(frozen=True)
class Identity(Operator):
    """Input x of any type."""

    name: ClassVar[str] = "identity"
    keeps_numbers: ClassVar[bool] = True
    is_view: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        return (x,)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (inputs[0].copy(),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
