"""conv3d: the convolution over three spatial axes, as conv2d is over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._conv import grouped_product
from buildtool.ops._shapes import extent, window_count
from buildtool.ops._types import plain, stored, working
from buildtool.ops._volume import SIDES, VolumeOperator, padded_volume, windows


@dataclass(frozen=True, kw_only=True)
class Conv3d(VolumeOperator):
    """Inputs x[N,D,H,W,C], w[O,KD,KH,KW,C/groups], b[O]?. Group g reads and makes its share of the channels.

    `strides` and `dilations` have 3 numbers, `pads` 6: all before, then all behind.
    """

    name: ClassVar[str] = "conv3d"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, kernel, filters = self.checked_operands(inputs)
        sides = tuple(
            window_count(
                x.shape[1 + axis],
                self.pads_of(axis),
                extent(kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's {side}",
            )
            for axis, side in enumerate(SIDES)
        )
        return (plain(x, (x.shape[0], *sides, filters)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, *bias = (working(array) for array in inputs)
        kernel = w.shape[1:4]
        x = padded_volume(x, self.pads)
        size = [
            (x.shape[1 + axis] - extent(kernel[axis], self.dilations[axis])) // self.strides[axis] + 1
            for axis in range(3)
        ]
        y = np.zeros((x.shape[0], *size, w.shape[0]), x.dtype)
        with np.errstate(all="ignore"):
            for tap, places in windows(kernel, size, self.strides, self.dilations):
                y += grouped_product(x[places], w[tap], self.groups)
            return (stored(self.activated(y + bias[0] if bias else y), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * product(inputs[1].shape[1:])
