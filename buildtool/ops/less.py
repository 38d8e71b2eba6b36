"""less: whether a is below b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import Comparison


@dataclass(frozen=True)
class Less(Comparison):
    """Inputs a, b (broadcast), any numbers; the result is bool. What is not a number compares false.

    Greater is this with its inputs exchanged.
    """

    name: ClassVar[str] = "less"

    def compute(self, a: Array, b: Array) -> Array:
        return np.less(a, b)
