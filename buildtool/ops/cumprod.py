"""cumprod: the product of the elements up to each place along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import CumulativeOperator


@dataclass(frozen=True)
class Cumprod(CumulativeOperator):
    """Input x, any numbers; integers wrap around.

    `exclusive` leaves out the element itself, `reverse` begins at the last one.
    """

    name: ClassVar[str] = "cumprod"
    neutral: ClassVar[int] = 1

    def cumulated(self, x: Array) -> Array:
        return np.asarray(np.cumprod(x, axis=self.axis, dtype=x.dtype))
