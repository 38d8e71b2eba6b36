"""gelu: y = x * P(X <= x) of a standard normal X, exactly or through tanh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._erf import error_function
from buildtool.ops._shapes import require_one_of


@dataclass(frozen=True)
class Gelu(UnaryOperator):
    """Input x, floating-point numbers.

    `approximate` is none or tanh.
    """

    name: ClassVar[str] = "gelu"

    approximate: str

    def check(self) -> None:
        require_one_of("approximate", self.approximate, ("none", "tanh"))

    def compute(self, x: Array) -> Array:
        if self.approximate == "tanh":
            inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
            return np.asarray(x / 2 * (1 + np.tanh(inner)))
        return np.asarray(x / 2 * (1 + error_function(x * x.dtype.type(math.sqrt(0.5)))))
