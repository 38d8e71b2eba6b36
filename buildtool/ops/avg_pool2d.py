"""avg_pool2d: the mean of every window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._conv import padded, taps
from buildtool.ops._pool import PoolOperator
from buildtool.ops._types import require_float, stored, working


@dataclass(frozen=True, kw_only=True)
class AvgPool2d(PoolOperator):
    """Input x[N,H,W,C]. The mean is over the taps inside the input, or with `count_include_pad` inside the padded one.

    Taps that hang over the padding (`ceil_mode`) never count. A window without taps that count gives 0.

    `kernel`, `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right.
    """

    name: ClassVar[str] = "avg_pool2d"

    count_include_pad: bool = False

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        require_float(*inputs)
        return super().infer(inputs)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x = working(inputs[0])
        size = (x.shape[1], x.shape[2])
        output = self.output_size(size)
        below, beyond = self.overhang(size, output)
        ones = np.ones((1, *size, 1), x.dtype)
        counted = np.pad(padded(ones, self.pads), ((0, 0), (0, below), (0, beyond), (0, 0)))
        if self.count_include_pad:
            counted[:, : counted.shape[1] - below, : counted.shape[2] - beyond] = 1
        x = np.pad(padded(x, self.pads), ((0, 0), (0, below), (0, beyond), (0, 0)))
        total = np.zeros((x.shape[0], *output, x.shape[3]), x.dtype)
        count = np.zeros((1, *output, 1), x.dtype)
        kernel = (self.kernel[0], self.kernel[1])
        with np.errstate(all="ignore"):
            for _, _, part in taps(x, kernel, output, self.strides, self.dilations):
                total += part
            for _, _, part in taps(counted, kernel, output, self.strides, self.dilations):
                count += part
            return (stored(total / np.maximum(count, 1), inputs[0]),)
