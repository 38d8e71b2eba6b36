"""dwconv2d: a convolution in which every output channel reads one input channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import ConvOperator, filter_size, padded, require_bias, taps
from buildtool.ops._shapes import equal_dim, extent, number, window_count
from buildtool.ops._types import plain, stored, working


@dataclass(frozen=True, kw_only=True)
class DwConv2d(ConvOperator):
    """Inputs x[N,H,W,C], w[KH,KW,C*multiplier], b[C*multiplier]?; channel c*multiplier+j of the output reads c.

    `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right.
    """

    name: ClassVar[str] = "dwconv2d"

    multiplier: int = 1

    def check(self) -> None:
        super().check()
        if self.multiplier < 1:
            raise OperatorError(f"'multiplier' is {self.multiplier}, which is not positive")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, w = self.checked_operands(inputs, 3)
        kernel = filter_size(w, 0)
        filters = number(w.shape[2], "the filter's channels")
        if filters < 1:
            raise OperatorError(f"the filter has {filters} channels, which is not positive")
        equal_dim(x.shape[3] * self.multiplier, filters, f"the input's channels * {self.multiplier} and the filter's")
        require_bias(inputs, filters)
        sides = tuple(
            window_count(
                x.shape[1 + axis],
                self.pads_of(axis),
                extent(kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's {side}",
            )
            for axis, side in enumerate(("height", "width"))
        )
        return (plain(x, (x.shape[0], *sides, filters)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *bias = (working(array) for array in inputs)
        kernel = (w.shape[0], w.shape[1])
        x = np.repeat(padded(x, self.pads), self.multiplier, axis=3)
        size = [(x.shape[1 + a] - extent(kernel[a], self.dilations[a])) // self.strides[a] + 1 for a in (0, 1)]
        y = np.zeros((x.shape[0], size[0], size[1], w.shape[2]), x.dtype)
        with np.errstate(all="ignore"):
            for row, column, part in taps(x, kernel, (size[0], size[1]), self.strides, self.dilations):
                y += part * w[row, column]
            return (stored(self.activated(y + bias[0] if bias else y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * product(inputs[1].shape[:2])
