"""dimensions: run-time sizes as the elements of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Shape, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType

TYPES = (DType.S64, DType.S32, DType.F32)
MOST = 32  # dimensions of one node


@dataclass(frozen=True)
class Dimensions(Operator):
    """Inputs: none. The output lists the values of the dimensions in `dims`, at the current sizes of the model inputs.

    `to` is its element type: s64, s32 or f32. Integers that s32 cannot hold wrap around, as in `cast`.
    """

    name: ClassVar[str] = "dimensions"
    arity: ClassVar[tuple[int, int | None]] = (0, 0)

    dims: Shape
    to: DType

    def check(self) -> None:
        if not 1 <= len(self.dims) <= MOST:
            raise OperatorError(f"'dims' holds {len(self.dims)} dimensions, and not 1 to {MOST}")
        if self.to not in TYPES:
            raise OperatorError(f"'to' is {self.to.value}, which is none of {', '.join(one.value for one in TYPES)}")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        self.operands(inputs)
        return (TensorType(self.to, (len(self.dims),)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (np.array(static(self.dims), np.int64).astype(self.to.numpy),)
