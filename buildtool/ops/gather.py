"""gather: slices of a tensor along one axis, picked by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Gather(Operator):
    """Inputs x of any element type, indices (s32 or s64; negative ones count from the end).

    The axes of the indices take the place of `axis`.
    """

    name: ClassVar[str] = "gather"
    keeps_numbers: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, indices = self.operands(inputs)
        require_axis(self.axis, x.rank)
        if indices.dtype not in (DType.S32, DType.S64):
            raise OperatorError(f"indices are s32 or s64, not {indices.dtype.value}")
        return (moved(x, (*x.shape[: self.axis], *indices.shape, *x.shape[self.axis + 1 :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, indices = inputs
        size = x.shape[self.axis]
        wrong = indices[(indices < -size) | (indices >= size)]
        if wrong.size:
            raise OperatorError(f"index {wrong.flat[0]} is outside {-size}..{size - 1}")
        return (np.asarray(np.take(x, indices, axis=self.axis)),)
