"""deconv2d (transposed convolution): x[n,i,j] * w is added to the output at i*stride + kh*dilation - pad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import ConvOperator, filter_size, grouped_product, require_bias
from buildtool.ops._shapes import equal_dim, extent, number, positive, require_ints
from buildtool.ops._types import plain, stored, working


@dataclass(frozen=True, kw_only=True)
class Deconv2d(ConvOperator):
    """Inputs x[N,H,W,C], w[O,KH,KW,C/groups], b[O]?.

    The output has (H-1)*stride + (KH-1)*dilation + 1 + output_padding - top - bottom rows.

    `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right. `output_padding` has 2.
    """

    name: ClassVar[str] = "deconv2d"

    output_padding: tuple[int, ...] = (0, 0)
    groups: int = 1

    def check(self) -> None:
        super().check()
        require_ints("output_padding", self.output_padding, 2, 0)
        for extra, stride, dilation in zip(self.output_padding, self.strides, self.dilations, strict=True):
            if extra >= max(stride, dilation):
                raise OperatorError(
                    f"'output_padding' holds {extra}, which is below neither stride {stride} nor dilation {dilation}"
                )
        if self.groups < 1:
            raise OperatorError(f"'groups' is {self.groups}, which is not positive")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, w = self.checked_operands(inputs, 4)
        kernel = filter_size(w, 1)
        channels = number(w.shape[3], "the filter's input channels") * self.groups
        equal_dim(x.shape[3], channels, f"the input's channels and {self.groups} * {w.shape[3]} of the filter")
        filters = number(w.shape[0], "the filter's output channels")
        if filters % self.groups or filters < 1:
            raise OperatorError(f"{filters} filters cannot be divided into {self.groups} groups")
        require_bias(inputs, filters)
        sides = []
        for axis, side in enumerate(("height", "width")):
            size = positive(x.shape[1 + axis], f"the input's {side}")
            grown = size * self.strides[axis] + (
                extent(kernel[axis], self.dilations[axis]) - self.strides[axis] + self.output_padding[axis]
            )
            sides.append(positive(grown - sum(self.pads_of(axis)), f"the output's {side}"))
        return (plain(x, (x.shape[0], *sides, filters)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *bias = (working(array) for array in inputs)
        (row_step, column_step), (top, left, bottom, right) = self.strides, self.pads
        rows, columns = x.shape[1:3]
        height = (rows - 1) * row_step + extent(w.shape[1], self.dilations[0]) + self.output_padding[0]
        width = (columns - 1) * column_step + extent(w.shape[2], self.dilations[1]) + self.output_padding[1]
        y = np.zeros((x.shape[0], height, width, w.shape[0]), x.dtype)
        with np.errstate(all="ignore"):
            for row in range(w.shape[1]):
                for column in range(w.shape[2]):
                    first_row, first_column = row * self.dilations[0], column * self.dilations[1]
                    y[
                        :,
                        first_row : first_row + (rows - 1) * row_step + 1 : row_step,
                        first_column : first_column + (columns - 1) * column_step + 1 : column_step,
                    ] += grouped_product(x, w[:, row, column, :], self.groups)
            y = y[:, top : height - bottom, left : width - right]
            return (stored(self.activated(y + bias[0] if bias else y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        x, w = inputs[:2]
        return product(x.shape[:3]) * product(w.shape)
