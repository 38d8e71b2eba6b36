"""argmin: the place of the smallest element along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import PlaceOperator


@dataclass(frozen=True)
class Argmin(PlaceOperator):
    """Input x, any numbers; the result is s64. What is not a number comes before all others.

    Of several smallest elements it is the first, or with `select_last_index` the last.
    """

    name: ClassVar[str] = "argmin"

    def places(self, x: Array) -> Array:
        return np.asarray(np.argmin(x, axis=self.axis, keepdims=True))
