"""grid_sample: a picture or volume read at positions that another input tells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, number, positive, require_one_of
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working

MODES = ("nearest", "linear", "cubic")
PADDINGS = ("zeros", "border", "reflection")


@dataclass(frozen=True)
class GridSample(Operator):
    """Inputs x[N,spatial...,C] and grid[N,out...,k] with k = 1 to 3 spatial axes; output [N,out...,C].

    The last axis of the grid holds a position, its innermost spatial axis first, where -1 and 1 are the first and the
    last element (`align_corners`) or the outer edges of these. `nearest` rounds half to even, `cubic` is Keys'
    convolution with -0.75. Outside lie zeros, the elements at the border, or the reflected input.

    `mode` is nearest, linear or cubic, `padding` is zeros, border or reflection.
    """

    name: ClassVar[str] = "grid_sample"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    mode: str
    padding: str
    align_corners: bool

    def check(self) -> None:
        require_one_of("mode", self.mode, MODES)
        require_one_of("padding", self.padding, PADDINGS)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, grid = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        axes = x.rank - 2
        if not 1 <= axes <= 3 or grid.rank != x.rank:
            raise OperatorError(f"the input has rank {x.rank} and the grid {grid.rank}; both have 3, 4 or 5")
        if number(grid.shape[-1], "the last axis of the grid") != axes:
            raise OperatorError(f"the grid holds positions of {grid.shape[-1]} elements for {axes} spatial axes")
        for axis in range(axes):
            positive(x.shape[1 + axis], f"the input's spatial axis {axis}")
        batch = equal_dim(x.shape[0], grid.shape[0], "the batches of input and grid")
        return (plain(x, (batch, *grid.shape[1:-1], x.shape[-1])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, grid = (working(array) for array in inputs)
        sizes = x.shape[1:-1]
        batch = np.arange(x.shape[0]).reshape(-1, *[1] * (grid.ndim - 2))
        taps = [self._taps(grid[..., len(sizes) - 1 - axis], size) for axis, size in enumerate(sizes)]
        y = np.zeros((*grid.shape[:-1], x.shape[-1]), np.float64)
        for chosen in itertools.product(*taps):
            weight = np.ones(grid.shape[:-1])
            for _, factor in chosen:
                weight = weight * factor
            at = (batch, *(place for place, _ in chosen))
            y += x[at] * weight[..., None]
        return (stored(y, inputs[0]),)

    def _taps(self, grid: Array, size: int) -> list[tuple[Array, Array]]:
        """Places along an axis and their weights; what lies outside and counts as zero has weight 0."""
        with np.errstate(all="ignore"):
            position = self._limited(self._position(grid, size), size)
        if self.mode == "nearest":
            return [self._tap(np.rint(position), np.ones(grid.shape), size)]
        below = np.floor(position)
        part = (position - below).astype(np.float64)
        if self.mode == "linear":
            return [self._tap(below, 1 - part, size), self._tap(below + 1, part, size)]
        return [self._tap(below + offset, _cubic(part - offset), size) for offset in (-1, 0, 1, 2)]

    def _position(self, grid: Array, size: int) -> Array:
        one, half = np.float32(1), np.float32(0.5)
        wide = np.float32(size - 1 if self.align_corners else size)
        position = (grid + one) * half * wide
        position = position if self.align_corners else position - half
        return np.asarray(np.nan_to_num(position, nan=-1e9, posinf=1e9, neginf=-1e9))

    def _limited(self, position: Array, size: int) -> Array:
        if self.padding == "border" and self.mode != "cubic":  # of which the taps are limited, one by one
            return np.clip(position, 0, size - 1)
        if self.padding == "reflection":
            return self._reflected(position, size)
        return np.clip(position, -4, size + 3)

    def _reflected(self, position: Array, size: int) -> Array:
        """Mirrored at the centres of the elements at the border, or at their outer edges."""
        low, span = (0.0, size - 1.0) if self.align_corners else (-0.5, float(size))
        if span <= 0:
            return np.zeros_like(position)
        distance = np.abs(position.astype(np.float64) - low)
        turns = np.floor(distance / span)
        rest = distance - turns * span
        return np.asarray(low + np.where(turns % 2 == 0, rest, span - rest), np.float32)

    def _tap(self, place: Array, weight: Array, size: int) -> tuple[Array, Array]:
        if self.padding == "reflection":
            place = self._reflected(place, size)
        index = np.clip(place, 0, size - 1).astype(np.int64)
        if self.padding == "zeros":
            weight = np.where((place >= 0) & (place <= size - 1), weight, 0.0)
        return index, weight

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        taps = {"nearest": 1, "linear": 2, "cubic": 4}[self.mode]
        return product(outputs[0].shape) * int(taps ** (inputs[0].rank - 2))

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None


def _cubic(distance: Array) -> Array:
    a, x = -0.75, np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)
