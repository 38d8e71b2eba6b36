"""cumsum: the sum of the elements up to each place along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import CumulativeOperator


@dataclass(frozen=True)
class Cumsum(CumulativeOperator):
    """Input x, any numbers; integers wrap around.

    `exclusive` leaves out the element itself, `reverse` begins at the last one.
    """

    name: ClassVar[str] = "cumsum"
    neutral: ClassVar[int] = 0

    def cumulated(self, x: Array) -> Array:
        return np.asarray(np.cumsum(x, axis=self.axis, dtype=x.dtype))
