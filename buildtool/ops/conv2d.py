"""conv2d: y[n,i,j,o] = act(b[o] + r[n,i,j,o] + sum of x[n, i*stride + kh*dilation - pad, ..., c] * w[o, kh, kw, c])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import ConvOperator, filter_size, grouped_product, padded, require_bias, taps
from buildtool.ops._shapes import equal_dim, extent, number, require_rank, window_count
from buildtool.ops._types import plain, stored, working


@dataclass(frozen=True, kw_only=True)
class Conv2d(ConvOperator):
    """Inputs x[N,H,W,C], w[O,KH,KW,C/groups], b[O]?, r?. Group g reads its share of the channels and makes its share.

    The residual r has the shape of the output, [N,OH,OW,O], and is added in front of the activation.

    `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right.
    """

    name: ClassVar[str] = "conv2d"
    arity: ClassVar[tuple[int, int | None]] = (2, 4)

    groups: int = 1

    def check(self) -> None:
        super().check()
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
        shape = (x.shape[0], *sides, filters)
        if len(inputs) > 3:
            require_rank(inputs[3], 4, "the residual")
            for axis, dim in enumerate(shape):
                equal_dim(inputs[3].shape[axis], dim, f"axis {axis} of the residual and of the output")
        return (plain(x, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *added = (working(array) for array in inputs)
        kernel = (w.shape[1], w.shape[2])
        x = padded(x, self.pads)
        size = [(x.shape[1 + a] - extent(kernel[a], self.dilations[a])) // self.strides[a] + 1 for a in (0, 1)]
        y = np.zeros((x.shape[0], size[0], size[1], w.shape[0]), x.dtype)
        with np.errstate(all="ignore"):
            for row, column, part in taps(x, kernel, (size[0], size[1]), self.strides, self.dilations):
                y += grouped_product(part, w[:, row, column, :], self.groups)
            for addend in added:
                y = y + addend
            return (stored(self.activated(y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * product(inputs[1].shape[1:])
