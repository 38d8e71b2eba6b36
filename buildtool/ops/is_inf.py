"""is_inf: whether it is infinite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import Predicate


@dataclass(frozen=True)
class IsInf(Predicate):
    """Input x, floating-point numbers; the result is bool. `negative` and `positive` say which infinities count."""

    name: ClassVar[str] = "is_inf"

    negative: bool
    positive: bool

    def compute(self, x: Array) -> Array:
        return (self.negative & np.isneginf(x)) | (self.positive & np.isposinf(x))
