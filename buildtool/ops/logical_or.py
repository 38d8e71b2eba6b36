"""logical_or: whether at least one is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import LogicalOperator


@dataclass(frozen=True)
class LogicalOr(LogicalOperator):
    """Inputs a, b (broadcast), bool."""

    name: ClassVar[str] = "logical_or"

    def compute(self, a: Array, b: Array) -> Array:
        return np.logical_or(a, b)
