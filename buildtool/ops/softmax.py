"""softmax: y = exp(x) / sum of exp(x) along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import require_axis
from buildtool.ops._types import plain, require_float, stored, working


@dataclass(frozen=True)
class Softmax(Operator):
    """Input x, floating-point numbers. The largest element is subtracted first, so that nothing overflows."""

    name: ClassVar[str] = "softmax"

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        require_axis(self.axis, x.rank)
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x = working(inputs[0])
        if not x.size:
            return (inputs[0].copy(),)
        with np.errstate(all="ignore"):
            powers = np.exp(x - x.max(axis=self.axis, keepdims=True))
            return (stored(powers / powers.sum(axis=self.axis, keepdims=True), inputs[0]),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis))
