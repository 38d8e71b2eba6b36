"""mish: y = x * tanh(log(1 + exp(x)))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator


@dataclass(frozen=True)
class Mish(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "mish"

    def compute(self, x: Array) -> Array:
        return np.asarray(x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)))
