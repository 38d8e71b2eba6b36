"""deconv3d: the transposed convolution over three spatial axes, as deconv2d is over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import grouped_product
from buildtool.ops._shapes import extent, positive, require_ints
from buildtool.ops._types import plain, stored, working
from buildtool.ops._volume import SIDES, VolumeOperator, windows


@dataclass(frozen=True, kw_only=True)
class Deconv3d(VolumeOperator):
    """Inputs x[N,D,H,W,C], w[O,KD,KH,KW,C/groups], b[O]?; x[i] * w[k] is added at i*stride + k*dilation - pad.

    `strides`, `dilations` and `output_padding` have 3 numbers, `pads` 6: all before, then all behind.
    """

    name: ClassVar[str] = "deconv3d"

    output_padding: tuple[int, ...] = (0, 0, 0)

    def check(self) -> None:
        super().check()
        require_ints("output_padding", self.output_padding, 3, 0)
        for extra, stride, dilation in zip(self.output_padding, self.strides, self.dilations, strict=True):
            if extra >= max(stride, dilation):
                raise OperatorError(
                    f"'output_padding' holds {extra}, which is below neither stride {stride} nor dilation {dilation}"
                )

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, kernel, filters = self.checked_operands(inputs)
        sides = []
        for axis, side in enumerate(SIDES):
            size = positive(x.shape[1 + axis], f"the input's {side}")
            grown = size * self.strides[axis] + (
                extent(kernel[axis], self.dilations[axis]) - self.strides[axis] + self.output_padding[axis]
            )
            sides.append(positive(grown - sum(self.pads_of(axis)), f"the output's {side}"))
        return (plain(x, (x.shape[0], *sides, filters)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *bias = (working(array) for array in inputs)
        kernel, size = w.shape[1:4], x.shape[1:4]
        whole = [
            (size[axis] - 1) * self.strides[axis]
            + extent(kernel[axis], self.dilations[axis])
            + self.output_padding[axis]
            for axis in range(3)
        ]
        y = np.zeros((x.shape[0], *whole, w.shape[0]), x.dtype)
        kept = (slice(None), *(slice(self.pads[axis], whole[axis] - self.pads[axis + 3]) for axis in range(3)))
        with np.errstate(all="ignore"):
            for tap, places in windows(kernel, size, self.strides, self.dilations):
                y[places] += grouped_product(x, w[tap], self.groups)
            y = y[kept]
            return (stored(self.activated(y + bias[0] if bias else y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        x, w = inputs[:2]
        return product(x.shape[:4]) * product(w.shape)
