"""max_pool2d: the largest element of every window; the padding is below every number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._conv import taps
from buildtool.ops._pool import PoolOperator
from buildtool.ops._types import require_numeric


@dataclass(frozen=True, kw_only=True)
class MaxPool2d(PoolOperator):
    """Input x[N,H,W,C]. A window that lies in the padding alone gives the lowest value of the type (-inf).

    `kernel`, `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right. With `ceil_mode` a last
    window that hangs over the end counts too.
    """

    name: ClassVar[str] = "max_pool2d"
    keeps_numbers: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        require_numeric(*inputs)
        return super().infer(inputs)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        lowest: Any = -np.inf if np.issubdtype(x.dtype, np.floating) else np.iinfo(x.dtype).min
        size = (x.shape[1], x.shape[2])
        output = self.output_size(size)
        below, beyond = self.overhang(size, output)
        top, left, bottom, right = self.pads
        widths = ((0, 0), (top, bottom + below), (left, right + beyond), (0, 0))
        x = np.pad(x, widths, constant_values=lowest)
        y = np.full((x.shape[0], *output, x.shape[3]), lowest, x.dtype)
        for _, _, part in taps(x, (self.kernel[0], self.kernel[1]), output, self.strides, self.dilations):
            np.maximum(y, part, out=y)
        return (y,)
