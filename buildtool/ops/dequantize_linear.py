"""dequantize_linear: y = (x - zero_point) * scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._quantisation import QUANTISED, AffineOperator, require_type


@dataclass(frozen=True)
class DequantizeLinear(AffineOperator):
    """Inputs x (integers of 8, 16 or 32 bits), scale, zero_point (of the type of x)?. y has the type of the scale.

    The difference is rounded to single precision before it is multiplied: that matters for s32 only.

    A scale of rank 1 lies along `axis`; with `block` (0: none) it has one number for so many elements along it.
    """

    name: ClassVar[str] = "dequantize_linear"
    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, scale = self.operands(inputs)[:2]
        require_type(x, (*QUANTISED, DType.S32), "x")
        self.require_parameters(inputs)
        if len(inputs) > 2:
            require_type(inputs[2], (x.dtype,), "the zero point")
        return (TensorType(scale.dtype, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, scale, *zero_point = inputs
        offset = self.laid_over(zero_point[0].astype(np.int64), x) if zero_point else 0
        with np.errstate(all="ignore"):
            y = (x.astype(np.int64) - offset).astype(np.float32) * self.laid_over(scale.astype(np.float32), x)
            return (np.asarray(y).astype(scale.dtype),)
