"""batch_norm: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, per channel (the last axis)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, keeps_channels_last, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True)
class BatchNorm(Operator):
    """Inputs x[...,C], scale[C], bias[C], mean[C], variance[C]."""

    name: ClassVar[str] = "batch_norm"
    arity: ClassVar[tuple[int, int | None]] = (5, 5)

    epsilon: float

    def check(self) -> None:
        if not 0 <= self.epsilon < np.inf:
            raise OperatorError(f"'epsilon' is {self.epsilon}, which is not a finite number of 0 or more")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, *statistics = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        if x.rank < 1:
            raise OperatorError("the input has rank 0, and has no channel axis")
        for what, type_ in zip(("scale", "bias", "mean", "variance"), statistics, strict=True):
            require_rank(type_, 1, f"the {what}")
            equal_dim(x.shape[-1], type_.shape[0], f"the input's channels and the size of the {what}")
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, scale, bias, mean, variance = (working(array) for array in inputs)
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + variance.dtype.type(self.epsilon))
            return (stored((x - mean) * factor + bias, inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if keeps_channels_last(perm) else None
