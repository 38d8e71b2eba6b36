"""log_softmax: y = x - log(sum of exp(x)) along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._axis import AxisOperator


@dataclass(frozen=True)
class LogSoftmax(AxisOperator):
    """Input x, floating-point numbers. The largest element is subtracted first, so that nothing overflows."""

    name: ClassVar[str] = "log_softmax"

    def compute(self, x: Array) -> Array:
        wide = x.astype(np.float64)
        shifted = wide - wide.max(axis=self.axis, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True)))
