"""prelu: y = x where x >= 0, else slope * x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._elementwise import BinaryOperator
from buildtool.ops._shapes import can_be_equal, show
from buildtool.ops._types import plain, require_numeric, require_same_dtype


@dataclass(frozen=True)
class Prelu(BinaryOperator):
    """Inputs x, slope, any numbers; integers wrap around. The slope broadcasts to the shape of x."""

    name: ClassVar[str] = "prelu"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, slope = self.operands(inputs)
        require_same_dtype(inputs)
        require_numeric(x)
        pairs = zip(reversed(x.shape), reversed(slope.shape), strict=False)
        if slope.rank > x.rank or not all(theirs == 1 or can_be_equal(ours, theirs) for ours, theirs in pairs):
            raise OperatorError(f"the slope {show(slope.shape)} does not broadcast to the input {show(x.shape)}")
        return (plain(x, x.shape),)

    def compute(self, a: Array, b: Array) -> Array:
        return np.where(a >= 0, a, a * b)
