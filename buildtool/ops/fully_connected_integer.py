"""fully_connected_integer: y[..., n] = act(b[n] + scale[n] * sum of (x[..., k] - x_zero) * (w[n, k] - w_zero[n]))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops._integer_matmul import IntegerMatmulOperator
from buildtool.ops._quantisation import BYTES, require_scalar, require_scalar_or_row, require_type
from buildtool.ops._shapes import equal_dim, require_rank


@dataclass(frozen=True, kw_only=True)
class FullyConnectedInteger(ActivatedOperator):
    """Inputs x[...,K] (s8 or u8), w[N,K] (s8), the zero point of x, that of w (one or [N]), scale (one or [N]), b[N]?.

    Sums are s32; scale, b and y are f32. The layers of a network that is quantised as it runs.
    """

    name: ClassVar[str] = "fully_connected_integer"
    arity: ClassVar[tuple[int, int | None]] = (5, 6)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, w, x_zero, w_zero, scale, *bias = self.operands(inputs)
        require_type(x, BYTES, "x")
        require_type(w, (DType.S8,), "w")
        require_rank(w, 2, "the weight matrix [N, K]")
        if x.rank < 1:
            raise OperatorError("the input has rank 0, and has no axis to multiply along")
        equal_dim(x.shape[-1], w.shape[1], "the input's last dimension and the second of the weights")
        require_scalar(x_zero, x.dtype, "the zero point of x")
        require_scalar_or_row(w_zero, DType.S8, w.shape[0], "the zero point of w")
        require_scalar_or_row(scale, DType.F32, w.shape[0], "the scale")
        for row in bias:
            require_rank(row, 1, "the bias")
            require_scalar_or_row(row, DType.F32, w.shape[0], "the bias")
        return (TensorType(DType.F32, (*x.shape[:-1], w.shape[0])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, x_zero, w_zero, scale, *bias = inputs
        sums = IntegerMatmulOperator.sums(x, x_zero, w.T, w_zero)
        with np.errstate(all="ignore"):
            y = sums.astype(np.float32) * scale.reshape(-1)
            return (np.asarray(self.activated(y + bias[0] if bias else y), np.float32),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * inputs[1].shape[1]
