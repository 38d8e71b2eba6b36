"""max_roi_pool: regions of pictures as small pictures of one size, each element the largest of its share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, positive, require_ints, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, working


@dataclass(frozen=True)
class MaxRoiPool(Operator):
    """Inputs x[N,H,W,C], regions[R,5] (picture, left, top, right, bottom); output [R,OH,OW,C].

    Regions are multiplied by `scale` and rounded (half away from zero); their last row and column belong to them. A
    share without elements gives 0. Pictures that do not exist are the nearest one.

    `size` has 2 numbers.
    """

    name: ClassVar[str] = "max_roi_pool"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    size: tuple[int, ...]
    scale: float

    def check(self) -> None:
        require_ints("size", self.size, 2, 1)
        if not np.isfinite(self.scale):
            raise OperatorError("'scale' is finite")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, regions = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        require_rank(x, 4, "the input [N, H, W, C]")
        require_rank(regions, 2, "the regions [R, 5]")
        equal_dim(regions.shape[1], 5, "the elements of a region and 5")
        for axis, side in enumerate(("number", "height", "width")):
            positive(x.shape[axis], f"the {side} of the images")
        return (plain(x, (regions.shape[0], *self.size, x.shape[3])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, regions = inputs[0], working(inputs[1])
        y = np.zeros((len(regions), *self.size, x.shape[3]), x.dtype)
        for row, region in enumerate(regions):
            picture = x[_limited(region[0], x.shape[0])]
            rows = self._shares(region[2], region[4], self.size[0], x.shape[1])
            columns = self._shares(region[1], region[3], self.size[1], x.shape[2])
            for i, (top, bottom) in enumerate(rows):
                for j, (left, right) in enumerate(columns):
                    if top < bottom and left < right:
                        y[row, i, j] = picture[top:bottom, left:right].max(axis=(0, 1))
        return (y,)

    def _shares(self, start: np.float32, end: np.float32, count: int, size: int) -> list[tuple[int, int]]:
        """The elements [first, last) of every share along one axis."""
        first = _rounded(start * np.float32(self.scale))
        width = max(_rounded(end * np.float32(self.scale)) - first + 1, 1)
        shares = []
        for index in range(count):
            begin = index * width // count + first
            stop = -(-(index + 1) * width // count) + first
            shares.append((min(max(begin, 0), size), min(max(stop, 0), size)))
        return shares

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None


def _rounded(value: np.float32) -> int:
    """Half away from zero; wild numbers are limited."""
    limited = float(np.clip(np.nan_to_num(value), -1e9, 1e9))
    return int(np.copysign(np.floor(abs(limited) + 0.5), limited))


def _limited(index: np.float32, count: int) -> int:
    return int(np.clip(np.nan_to_num(index), 0, count - 1))
