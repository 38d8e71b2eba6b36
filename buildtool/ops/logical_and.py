"""logical_and: whether both are true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import LogicalOperator


@dataclass(frozen=True)
class LogicalAnd(LogicalOperator):
    """Inputs a, b (broadcast), bool."""

    name: ClassVar[str] = "logical_and"

    def compute(self, a: Array, b: Array) -> Array:
        return np.logical_and(a, b)
