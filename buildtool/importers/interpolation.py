"""Resizing along one axis as tables: which elements of the input each element of the output reads, and how much.

Everything is computed in double precision when the model is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from buildtool.ir.operator import Array

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)
_HALFWAY = np.float32(1e-6)  # what a position may be off


@dataclass(frozen=True)
class AxisResize:
    """How one axis is resized. `scale` may differ from `new / old`; `region` is what tf_crop_and_resize cuts out."""

    old: int
    new: int
    scale: float
    coordinates: str
    region: tuple[float, float] = (0.0, 1.0)

    @property
    def changes(self) -> bool:
        whole = self.coordinates != "tf_crop_and_resize" or self.region == (0.0, 1.0)
        return not (self.old == self.new and math.isclose(self.scale, 1.0) and whole)

    def positions(self) -> Array:
        """Where in the input each element of the output lies, in the precision that decides ties everywhere else."""
        index = np.arange(self.new, dtype=np.float32)
        one, half = np.float32(1), np.float32(0.5)
        old, scale = np.float32(self.old), np.float32(self.scale)
        width = scale * old  # of the output, before it was rounded to whole elements
        match self.coordinates:
            case "align_corners":
                width = np.float32(self.new) if math.isclose(width, self.new, rel_tol=1e-6) else width
                return np.asarray(index * (old - one) / (width - one)) if width != 1 else 0 * index
            case "asymmetric":
                return np.asarray(index / scale)
            case "tf_crop_and_resize":
                return self._cut_out(index.astype(np.float64), float(width))
            case "tf_half_pixel_for_nn":
                return np.asarray((index + half) / scale)
            case "pytorch_half_pixel" if self.new == 1:
                return index
            case "half_pixel_symmetric":
                middle = old / np.float32(2) * (one - np.float32(self.new) / width)
                centred = (index + half).astype(np.float64) / scale.astype(np.float64)
                return np.asarray(float(middle) + centred - 0.5, np.float32)
        return np.asarray((index + half) / scale - half)

    def _cut_out(self, index: Array, width: float) -> Array:
        (start, end), last = self.region, self.old - 1
        if width == 1:
            return np.full(self.new, (end - start) * last / 2 + start * last)
        return np.asarray(index * (end - start) * last / (width - 1) + start * last)

    def outside(self) -> Array:
        """Which elements lie outside of the input and get the extrapolation value."""
        if self.coordinates != "tf_crop_and_resize":
            return np.zeros(self.new, np.bool_)
        positions = self.positions()
        return np.asarray((positions < 0) | (positions > self.old - 1))


def nearest(axis: AxisResize, rounding: str) -> Array:
    """The place that each element of the output reads. What is halfway but for rounding is halfway."""
    positions = axis.positions()
    below = np.floor(positions)
    halfway = np.abs(positions - below - np.float32(0.5)) <= _HALFWAY
    match rounding:
        case "round_prefer_floor":
            rounded = np.where(halfway, below, np.ceil(positions.astype(np.float64) - 0.5))
        case "round_prefer_ceil":
            rounded = np.where(halfway, below + 1, np.floor(positions.astype(np.float64) + 0.5))
        case "floor":
            rounded = below
        case _:
            rounded = np.ceil(positions)
    return np.clip(rounded, 0, axis.old - 1).astype(np.int64)


def linear(axis: AxisResize, antialias: bool, exclude_outside: bool) -> tuple[Array, Array]:
    """Places and weights [n, taps] of an interpolation between two neighbours, or of a triangle when antialiased."""
    return _table(axis, 1, lambda distance: np.maximum(1 - np.abs(distance), 0), antialias, exclude_outside)


def cubic(axis: AxisResize, a: float, antialias: bool, exclude_outside: bool) -> tuple[Array, Array]:
    """Places and weights of Keys' cubic convolution with the coefficient `a`."""

    def kernel(distance: Array) -> Array:
        x = np.abs(distance)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return _table(axis, 2, kernel, antialias, exclude_outside)


def taps(axis: AxisResize, mode: str, antialias: bool) -> int:
    """How many elements of the input each element of the output reads."""
    return 1 if mode == "nearest" else 2 - 2 * _first_tap(axis, 1 if mode == "linear" else 2, antialias)


def _first_tap(axis: AxisResize, radius: int, antialias: bool) -> int:
    return math.floor(-radius / _shrink(axis, antialias)) + 1


def _shrink(axis: AxisResize, antialias: bool) -> float:
    return min(axis.scale, 1.0) if antialias else 1.0


def _table(
    axis: AxisResize, radius: int, kernel: Callable[[Array], Array], antialias: bool, exclude_outside: bool
) -> tuple[Array, Array]:
    """A kernel that is 0 beyond `radius`; antialiasing widens it by as much as the axis shrinks."""
    positions = axis.positions()
    below = np.floor(positions)
    shrink, first = _shrink(axis, antialias), _first_tap(axis, radius, antialias)
    offsets = np.arange(first, 2 - first)
    places = below[:, None] + offsets[None, :]
    weights = kernel((places - positions[:, None]) * shrink)
    if exclude_outside:
        weights = np.where((places < 0) | (places >= axis.old), 0.0, weights)
    if antialias or exclude_outside:
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)
    return np.clip(places, 0, axis.old - 1).astype(np.int32), weights.astype(np.float32)
