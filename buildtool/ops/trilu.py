"""trilu: the upper or lower triangle of matrices; zero elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import show
from buildtool.ops._types import moved


@dataclass(frozen=True)
class Trilu(Operator):
    """Input x[..., M, N] of any element type. Kept are the elements with column - row >= k (`upper`), or <= k.

    `k` counts diagonals: 0 is the main one.
    """

    name: ClassVar[str] = "trilu"

    upper: bool
    k: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.rank < 2:
            raise OperatorError(f"the input must be matrices, but its shape is {show(x.shape)}")
        return (moved(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return ((np.triu if self.upper else np.tril)(inputs[0], self.k),)
