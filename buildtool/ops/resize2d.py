"""resize2d: a picture at another size, by its nearest or by its four surrounding elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Shape, bounds, static
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import positive, require_one_of, require_rank
from buildtool.ops._types import plain, require_float, require_numeric, stored, working

COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True)
class Resize2d(Operator):
    """Input x[N,H,W,C]. Output element i lies at a position of the input, computed with 32-bit floats:

    - half_pixel: (i + 0.5) / scale - 0.5; pytorch_half_pixel: the same, but 0 where the output has one element
    - asymmetric: i / scale
    - align_corners: i * (input - 1) / (output - 1), 0 where the output has one element; scales are not used

    `nearest` rounds the position by `rounding`; `linear` weighs the elements around it. Elements outside are those at
    the border.

    `size` has 2 dimensions and `scales` 2 numbers, where 0 stands for the output's size divided by the
    input's; `mode` is nearest or linear, `coordinates` one of the above,
    `rounding` round_prefer_floor, round_prefer_ceil, floor or ceil.
    """

    name: ClassVar[str] = "resize2d"

    size: Shape
    scales: tuple[float, ...]
    mode: str
    coordinates: str
    rounding: str

    def check(self) -> None:
        require_one_of("mode", self.mode, ("nearest", "linear"))
        require_one_of("coordinates", self.coordinates, COORDINATES)
        require_one_of("rounding", self.rounding, ROUNDINGS)
        if len(self.size) != 2 or len(self.scales) != 2:
            raise OperatorError(f"'size' and 'scales' have 2 entries, not {len(self.size)} and {len(self.scales)}")
        for dim in self.size:
            if bounds(dim)[1] < 1:
                raise OperatorError(f"'size' holds {dim}, which is not positive")
        for scale in self.scales:
            if not 0 <= scale < np.inf:
                raise OperatorError(f"'scales' holds {scale}, which is below 0 or not finite")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_rank(x, 4, "the input of a resize [N, H, W, C]")
        (require_float if self.mode == "linear" else require_numeric)(x)
        positive(x.shape[1], "the input's height")
        positive(x.shape[2], "the input's width")
        return (plain(x, (x.shape[0], *self.size, x.shape[3])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        y = working(inputs[0])
        for axis, size in enumerate(static(self.size)):
            y = self._along(y, axis + 1, size, self.scales[axis])
        return (stored(y, inputs[0]),)

    def _along(self, x: Array, axis: int, size: int, scale: float) -> Array:
        """Height and width are independent of each other, so that one axis is resized at a time."""
        last = x.shape[axis] - 1
        if self.mode == "nearest":
            return np.take(x, self.places(x.shape[axis], size, scale), axis=axis)
        positions = np.clip(self._positions(x.shape[axis], size, np.float32(scale)), 0, last)
        below = np.floor(positions).astype(np.int64)
        shape = [1] * x.ndim
        shape[axis] = size
        weight = (positions - below).reshape(shape).astype(x.dtype)
        above = np.minimum(below + 1, last)
        result: Array = np.take(x, below, axis=axis) * (1 - weight) + np.take(x, above, axis=axis) * weight
        return result

    def places(self, old: int, new: int, scale: float) -> Array:
        """The element that each one of the output is, along an axis of a nearest resize."""
        rounded = self._rounded(self._positions(old, new, np.float32(scale)))
        return np.asarray(np.clip(rounded, 0, old - 1), np.int64)

    def _positions(self, old: int, new: int, scale: np.float32) -> Array:
        with np.errstate(all="ignore"):
            return np.nan_to_num(self._unlimited(old, new, scale))

    def _unlimited(self, old: int, new: int, scale: np.float32) -> Array:
        index = np.arange(new, dtype=np.float32)
        half = np.float32(0.5)
        if self.coordinates == "align_corners":
            return np.asarray(index * np.float32(old - 1) / np.float32(new - 1)) if new > 1 else index
        scale = scale or np.float32(new) / np.float32(old)
        if self.coordinates == "asymmetric":
            return np.asarray(index / scale)
        if self.coordinates == "pytorch_half_pixel" and new == 1:
            return index
        return np.asarray((index + half) / scale - half)

    def _rounded(self, positions: Array) -> Array:
        half = np.float32(0.5)
        match self.rounding:
            case "round_prefer_floor":
                return np.asarray(np.ceil(positions - half))
            case "round_prefer_ceil":
                return np.asarray(np.floor(positions + half))
            case "floor":
                return np.asarray(np.floor(positions))
            case _:
                return np.asarray(np.ceil(positions))
