"""logical_not: whether it is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._types import plain, require_bool


@dataclass(frozen=True)
class LogicalNot(UnaryOperator):
    """Input x, bool."""

    name: ClassVar[str] = "logical_not"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_bool(x)
        return (plain(x, x.shape),)

    def compute(self, x: Array) -> Array:
        return np.logical_not(x)
