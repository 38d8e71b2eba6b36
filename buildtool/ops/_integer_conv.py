"""What the convolutions of quantised numbers share: attributes, checks, and the s32 sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.ir.dims import Dim, Shape, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import filter_size, grouped_product, padded, taps
from buildtool.ops._quantisation import BYTES, centred, require_scalar, require_scalar_or_row, require_type
from buildtool.ops._shapes import equal_dim, extent, number, require_ints, require_rank, window_count


@dataclass(frozen=True, kw_only=True)
class IntegerConvOperator(Operator):
    """A filter w[O,KH,KW,C/groups] over x[N,H,W,C]; what lies outside the image is the zero point of x."""

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    dilations: tuple[int, ...] = (1, 1)
    groups: int = 1

    def check(self) -> None:
        require_ints("strides", self.strides, 2, 1)
        require_ints("pads", self.pads, 4, 0)
        require_ints("dilations", self.dilations, 2, 1)
        if self.groups < 1:
            raise OperatorError(f"'groups' is {self.groups}, which is not positive")

    def checked_shape(self, x: TensorType, x_zero: TensorType, w: TensorType, w_zero: TensorType) -> Shape:
        """The shape of the output, after all checks of image and filter."""
        for type_, what in ((x, "x"), (w, "w")):
            require_type(type_, BYTES, what)
        require_rank(x, 4, "the input of a convolution [N, H, W, C]")
        require_rank(w, 4, "the filter")
        kernel = filter_size(w, 1)
        depth = number(w.shape[3], "the filter's input channels")
        equal_dim(x.shape[3], depth * self.groups, f"the input's channels and {self.groups} * {depth} of the filter")
        filters = number(w.shape[0], "the filter's output channels")
        if filters % self.groups or filters < 1:
            raise OperatorError(f"{filters} filters cannot be divided into {self.groups} groups")
        require_scalar(x_zero, x.dtype, "the zero point of x")
        require_scalar_or_row(w_zero, w.dtype, filters, "the zero point of w")
        sides = [
            window_count(
                x.shape[1 + axis],
                (self.pads[axis], self.pads[axis + 2]),
                extent(kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's {side}",
            )
            for axis, side in enumerate(("height", "width"))
        ]
        return (x.shape[0], *sides, filters)

    def sums(self, x: Array, x_zero: Array, w: Array, w_zero: Array) -> Array:
        """The s32 sums of products, which wrap around."""
        image = padded(centred(x, x_zero), self.pads)
        filters = centred(w, w_zero.reshape(-1, 1, 1, 1) if w_zero.ndim else w_zero)
        kernel = (w.shape[1], w.shape[2])
        rows, columns = (
            (image.shape[1 + axis] - extent(kernel[axis], self.dilations[axis])) // self.strides[axis] + 1
            for axis in range(2)
        )
        y = np.zeros((x.shape[0], rows, columns, w.shape[0]), np.int32)
        for row, column, seen in taps(image, kernel, (rows, columns), self.strides, self.dilations):
            y += grouped_product(seen, filters[:, row, column, :], self.groups)
        return y

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        w = next(type_ for type_ in inputs[1:] if type_.rank == 4)
        return product(outputs[0].shape) * product(w.shape[1:])
