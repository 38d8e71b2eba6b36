"""smooth_step: y = x^2 (3 - 2x), which leaves 0 and 1 alone and drives what is between them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType


@dataclass(frozen=True)
class SmoothStep(Operator):
    """Input x, f32."""

    name: ClassVar[str] = "smooth_step"
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    is_elementwise: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.dtype is not DType.F32:
            raise OperatorError(f"the input is {x.dtype.value}; it must be f32")
        return (TensorType(x.dtype, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        return ((x * x * (3 - 2 * x)).astype(x.dtype),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
