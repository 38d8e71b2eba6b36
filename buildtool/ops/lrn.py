"""lrn (local response normalisation): y[c] = x[c] / (bias + alpha/size * sum of x[c - ..., c + ...]^2)^beta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import keeps_channels_last
from buildtool.ops._types import plain, require_float, stored, working


@dataclass(frozen=True)
class Lrn(Operator):
    """Input x[...,C]. The sum is over `size` neighbouring channels, (size - 1) // 2 of them before the channel."""

    name: ClassVar[str] = "lrn"

    size: int
    alpha: float
    beta: float
    bias: float

    def check(self) -> None:
        if self.size < 1:
            raise OperatorError(f"'size' is {self.size}, which is not positive")
        if not np.isfinite([self.alpha, self.beta, self.bias]).all():
            raise OperatorError("'alpha', 'beta' and 'bias' are finite")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        if x.rank < 1:
            raise OperatorError("the input has rank 0, and has no channel axis")
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x = working(inputs[0])
        channels, before = x.shape[-1], (self.size - 1) // 2
        total = np.zeros(x.shape, np.float64)
        with np.errstate(all="ignore"):
            square = x.astype(np.float64) ** 2
            for channel in range(channels):
                window = square[..., max(channel - before, 0) : channel - before + self.size]
                total[..., channel] = window.sum(axis=-1)
            y = x / (self.bias + self.alpha / self.size * total) ** self.beta
            return (stored(y, inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * self.size

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if keeps_channels_last(perm) else None
