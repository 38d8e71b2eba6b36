"""qlinear_conv: the convolution of quantised numbers, quantised again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType, dtype_of
from buildtool.ops._integer_conv import IntegerConvOperator
from buildtool.ops._quantisation import BYTES, requantised, require_scalar, require_scalar_or_row, require_type


@dataclass(frozen=True, kw_only=True)
class QlinearConv(IntegerConvOperator):
    """Inputs x[N,H,W,C], its scale and zero point, w[O,KH,KW,C/groups], its scale and zero point (one, or O), the scale
    and zero point of y, b[O]? of s32 in units of x_scale * w_scale.

    y = saturate(round(sum * (x_scale * w_scale / y_scale)) + y_zero_point), computed in single precision.
    """

    name: ClassVar[str] = "qlinear_conv"
    arity: ClassVar[tuple[int, int | None]] = (8, 9)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *bias = self.operands(inputs)
        shape = self.checked_shape(x, x_zero, w, w_zero)
        require_scalar(x_scale, DType.F32, "the scale of x")
        require_scalar_or_row(w_scale, DType.F32, shape[3], "the scale of w")
        require_scalar(y_scale, DType.F32, "the scale of y")
        require_type(y_zero, BYTES, "the zero point of y")
        require_scalar(y_zero, y_zero.dtype, "the zero point of y")
        for row in bias:
            require_scalar_or_row(row, DType.S32, shape[3], "the bias")
        return (TensorType(y_zero.dtype, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *bias = inputs
        sums = self.sums(x, x_zero, w, w_zero)
        for row in bias:
            sums = sums + row
        with np.errstate(all="ignore"):
            return (requantised(sums, x_scale * w_scale / y_scale, y_zero, dtype_of(y_zero)),)
