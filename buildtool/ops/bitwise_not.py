"""bitwise_not: all bits turned over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import plain, require_integer


@dataclass(frozen=True)
class BitwiseNot(UnaryOperator):
    """Input x, integers."""

    name: ClassVar[str] = "bitwise_not"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_integer(x)
        return (plain(x, x.shape),)

    def compute(self, x: Array) -> Array:
        return np.bitwise_not(x)
