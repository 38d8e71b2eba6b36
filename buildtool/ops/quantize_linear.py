"""quantize_linear: y = saturate(round(x / scale) + zero_point)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops._quantisation import QUANTISED, AffineOperator, require_type, saturated


@dataclass(frozen=True)
class QuantizeLinear(AffineOperator):
    """Inputs x and scale (f32 or f16), zero_point (of the type `to`)?. Rounded half to even.

    A scale of rank 1 lies along `axis`; with `block` (0: none) it has one number for so many elements along it.
    """

    name: ClassVar[str] = "quantize_linear"
    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    to: DType

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x = self.operands(inputs)[0]
        require_type(x, (DType.F32, DType.F16), "x")
        require_type(TensorType(self.to, ()), QUANTISED, "'to'")
        require_type(inputs[1], (x.dtype,), "the scale")
        self.require_parameters(inputs)
        if len(inputs) > 2:
            require_type(inputs[2], (self.to,), "the zero point")
        return (TensorType(self.to, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, scale, *zero_point = inputs
        with np.errstate(all="ignore"):
            wide = x.astype(np.float32) / self.laid_over(scale.astype(np.float32), x)
        offset = self.laid_over(zero_point[0].astype(np.int64), x) if zero_point else 0
        return (saturated(np.rint(wide), offset, self.to),)
