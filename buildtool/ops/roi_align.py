"""roi_align: regions of pictures as small pictures of one size, each element made of interpolated samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import equal_dim, positive, require_ints, require_one_of, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working

MOST_SAMPLES = 256  # along one axis of one element, where the size of a region decides


@dataclass(frozen=True)
class RoiAlign(Operator):
    """Inputs x[N,H,W,C], regions[R,4] (left, top, right, bottom), pictures[R] (s64); output [R,OH,OW,C].

    Regions are multiplied by `scale`, and `half_pixel` moves them by half an element; without it they are at least one
    element wide. `samples` per axis are taken of every output element, 0 for as many as it has input elements. `mean`
    is their mean, `max` the largest weighted neighbour of any of them. Samples beyond the picture by more than one
    element count as 0. Pictures that do not exist are the nearest one.

    `size` has 2 numbers; `mode` is mean or max.
    """

    name: ClassVar[str] = "roi_align"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    size: tuple[int, ...]
    samples: int
    scale: float
    mode: str
    half_pixel: bool

    def check(self) -> None:
        require_ints("size", self.size, 2, 1)
        require_one_of("mode", self.mode, ("mean", "max"))
        if not 0 <= self.samples <= MOST_SAMPLES:
            raise OperatorError(f"'samples' is {self.samples}, which is outside 0..{MOST_SAMPLES}")
        if not np.isfinite(self.scale):
            raise OperatorError("'scale' is finite")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, regions, pictures = self.operands(inputs)
        require_same_dtype((x, regions))
        require_float(x)
        require_rank(x, 4, "the input [N, H, W, C]")
        require_rank(regions, 2, "the regions [R, 4]")
        require_rank(pictures, 1, "the image indices of the regions")
        if pictures.dtype is not DType.S64:
            raise OperatorError(f"the image indices of the regions are s64, not {pictures.dtype.value}")
        equal_dim(regions.shape[1], 4, "the elements of a region and 4")
        for axis, side in enumerate(("number", "height", "width")):
            positive(x.shape[axis], f"the {side} of the images")
        count = equal_dim(regions.shape[0], pictures.shape[0], "the regions and their image indices")
        return (plain(x, (count, *self.size, x.shape[3])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, regions = working(inputs[0]), working(inputs[1])
        pictures = np.clip(inputs[2], 0, x.shape[0] - 1)
        y = np.zeros((len(regions), *self.size, x.shape[3]), np.float64)
        for row, (region, picture) in enumerate(zip(regions, pictures, strict=True)):
            rows = self._samples(region[1], region[3], self.size[0], x.shape[1])
            columns = self._samples(region[0], region[2], self.size[1], x.shape[2])
            for i in range(self.size[0]):
                for j in range(self.size[1]):
                    y[row, i, j] = self._element(x[picture], rows[i], columns[j])
        return (stored(y, inputs[0]),)

    def _samples(self, start: np.float32, end: np.float32, count: int, size: int) -> list[list[tuple[int, int, float]]]:
        """For every output element along an axis, its samples: two places and the part of the second; -1: nothing."""
        offset = np.float32(0.5 if self.half_pixel else 0.0)
        scale = np.float32(self.scale)
        first, last = start * scale - offset, end * scale - offset
        width = last - first if self.half_pixel else max(last - first, np.float32(1))
        step = np.float32(width / np.float32(count))
        taken = self.samples or int(np.clip(np.ceil(step), 0, MOST_SAMPLES))
        result = []
        for index in range(count):
            spots = []
            for sample in range(taken):
                at = first + np.float32(index) * step + np.float32(sample + 0.5) * step / np.float32(taken)
                spots.append(_neighbours(float(np.float32(at)), size))
            result.append(spots)
        return result

    def _element(self, x: Array, rows: list[tuple[int, int, float]], columns: list[tuple[int, int, float]]) -> Array:
        total = np.zeros(x.shape[-1], np.float64)
        best: Array | None = None
        for top, bottom, down in rows:
            for left, right, across in columns:
                corners = np.zeros((4, x.shape[-1]))
                if top >= 0 and left >= 0:
                    corners[0] = (1 - down) * (1 - across) * x[top, left]
                    corners[1] = (1 - down) * across * x[top, right]
                    corners[2] = down * (1 - across) * x[bottom, left]
                    corners[3] = down * across * x[bottom, right]
                total += corners.sum(axis=0)
                largest = corners.max(axis=0)
                best = largest if best is None else np.maximum(best, largest)
        if self.mode == "max":
            return total if best is None else best
        return total / max(len(rows) * len(columns), 1)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None


def _neighbours(at: float, size: int) -> tuple[int, int, float]:
    if not -1.0 <= at <= size:
        return -1, -1, 0.0
    at = max(at, 0.0)
    low = int(at)
    if low >= size - 1:
        return size - 1, size - 1, 0.0
    return low, low + 1, at - low
