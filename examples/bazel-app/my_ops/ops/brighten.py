"""brighten: y = min(gain * x, 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType


@dataclass(frozen=True)
class Brighten(Operator):
    """Input x, f32: brightness from 0 to 1."""

    name: ClassVar[str] = "brighten"
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    is_elementwise: ClassVar[bool] = True

    gain: float

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.dtype is not DType.F32:
            raise OperatorError(f"the input is {x.dtype.value}; it must be f32")
        return (TensorType(x.dtype, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        return (np.minimum(x * np.float32(self.gain), np.float32(1)),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
