"""qlinear_matmul: the matrix product of quantised numbers, quantised again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType, dtype_of
from buildtool.ops._integer_matmul import IntegerMatmulOperator
from buildtool.ops._quantisation import BYTES, requantised, require_scalar, require_scalar_or_row, require_type


@dataclass(frozen=True)
class QlinearMatmul(IntegerMatmulOperator):
    """Inputs a, its scale and zero point (one, or one per row), b, its scale and zero point (one, or one per column),
    the scale and zero point of y.

    y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point), computed in single precision.
    """

    name: ClassVar[str] = "qlinear_matmul"
    arity: ClassVar[tuple[int, int | None]] = (8, 8)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = self.operands(inputs)
        shape, rows, columns = self.checked_shape(a, a_zero, b, b_zero)
        require_scalar_or_row(a_scale, DType.F32, rows, "the scale of a")
        require_scalar_or_row(b_scale, DType.F32, columns, "the scale of b")
        require_scalar(y_scale, DType.F32, "the scale of y")
        require_type(y_zero, BYTES, "the zero point of y")
        require_scalar(y_zero, y_zero.dtype, "the zero point of y")
        return (TensorType(y_zero.dtype, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
        sums = self.sums(a, a_zero, b, b_zero)
        rows = a_scale.reshape(-1, 1) if b.ndim > 1 else a_scale.reshape(-1)
        columns = b_scale.reshape(-1)
        if a.ndim == 1:
            rows = rows.reshape(-1)
        with np.errstate(all="ignore"):
            factors = rows * columns / y_scale
            return (requantised(sums, factors.reshape(()) if sums.ndim == 0 else factors, y_zero, dtype_of(y_zero)),)
