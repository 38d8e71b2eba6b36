"""matmul_integer: the matrix product of quantised numbers as s32 sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._integer_matmul import IntegerMatmulOperator


@dataclass(frozen=True)
class MatmulInteger(IntegerMatmulOperator):
    """Inputs a, b, zero point of a (one, or one per row), zero point of b (one, or one per column); s8 or u8."""

    name: ClassVar[str] = "matmul_integer"
    arity: ClassVar[tuple[int, int | None]] = (4, 4)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, b, a_zero, b_zero = self.operands(inputs)
        shape, _, _ = self.checked_shape(a, a_zero, b, b_zero)
        return (TensorType(DType.S32, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        a, b, a_zero, b_zero = inputs
        return (self.sums(a, a_zero, b, b_zero),)
