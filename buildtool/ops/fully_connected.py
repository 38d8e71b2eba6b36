"""fully_connected: y[..., n] = act(b[n] + sum over k of x[..., k] * w[n, k])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops._conv import require_bias
from buildtool.ops._shapes import equal_dim, keeps_channels_last, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True, kw_only=True)
class FullyConnected(ActivatedOperator):
    """Inputs x[...,K], w[N,K], b[N]?."""

    name: ClassVar[str] = "fully_connected"
    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        self.operands(inputs)
        require_same_dtype(inputs)
        require_float(*inputs)
        x, w = inputs[:2]
        require_rank(w, 2, "the weight matrix [N, K]")
        if x.rank < 1:
            raise OperatorError("the input has rank 0, and has no axis to multiply along")
        equal_dim(x.shape[-1], w.shape[1], "the input's last dimension and the second of the weights")
        require_bias(inputs, w.shape[0])
        return (plain(x, (*x.shape[:-1], w.shape[0])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *bias = (working(array) for array in inputs)
        with np.errstate(all="ignore"):
            y = x @ w.T
            return (stored(self.activated(y + bias[0] if bias else y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * inputs[1].shape[1]

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if keeps_channels_last(perm) else None
