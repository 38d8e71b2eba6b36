"""argmax: the place of the largest element along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import PlaceOperator


@dataclass(frozen=True)
class Argmax(PlaceOperator):
    """Input x, any numbers; the result is s64. What is not a number comes before all others.

    Of several largest elements it is the first, or with `select_last_index` the last.
    """

    name: ClassVar[str] = "argmax"

    def places(self, x: Array) -> Array:
        return np.asarray(np.argmax(x, axis=self.axis, keepdims=True))
