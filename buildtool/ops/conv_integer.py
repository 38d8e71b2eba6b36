"""conv_integer: the convolution of quantised numbers as s32 sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._integer_conv import IntegerConvOperator


@dataclass(frozen=True, kw_only=True)
class ConvInteger(IntegerConvOperator):
    """Inputs x[N,H,W,C], w[O,KH,KW,C/groups], zero point of x, zero point of w (one, or O); each pair s8 or u8."""

    name: ClassVar[str] = "conv_integer"
    arity: ClassVar[tuple[int, int | None]] = (4, 4)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, w, x_zero, w_zero = self.operands(inputs)
        return (TensorType(DType.S32, self.checked_shape(x, x_zero, w, w_zero)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, x_zero, w_zero = inputs
        return (self.sums(x, x_zero, w, w_zero),)
