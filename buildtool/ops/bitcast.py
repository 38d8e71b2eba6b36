"""bitcast: the same bytes read as another element type of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType


@dataclass(frozen=True)
class Bitcast(Operator):
    """Input x of any element type that is as large as `to`."""

    name: ClassVar[str] = "bitcast"
    is_view: ClassVar[bool] = True

    to: DType

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.dtype.itemsize != self.to.itemsize:
            raise OperatorError(f"{x.dtype.value} and {self.to.value} are not of one size")
        if self.to is DType.BOOL and x.dtype is not DType.BOOL:
            raise OperatorError("a bool is 0 or 1, but the bytes of other types can be any")
        if DType.BF16 in (x.dtype, self.to) and x.dtype is not self.to:
            raise OperatorError("bf16 is evaluated as f32, so its bits are not available")
        return (TensorType(self.to, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.array(inputs[0]).view(self.to.numpy),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
