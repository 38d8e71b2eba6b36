"""Resizes of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.interpolation import AxisResize, cubic
from buildtool.importers.resizing import bilinear, coordinates, nearest
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_STEPS = 1024  # between two pixels: TensorFlow looks up the weights of cubic resizes in a table


@handler("ResizeBilinear")
def resize_bilinear(step: Step) -> Tensor:
    """Pictures of whole numbers become floats."""
    return bilinear(step, _floats(step))


@handler("ResizeNearestNeighbor")
def resize_nearest(step: Step) -> Tensor:
    return nearest(step, step.input(0))


@handler("ResizeBicubic")
def resize_bicubic(step: Step) -> Tensor:
    """With centers of half pixels by Keys' coefficient and without what lies outside; the older form has neither."""
    y, size, how = _floats(step), step.known_ints(1, "size"), coordinates(step)
    if y.rank != 4 or len(size) != 2:
        step.malformed(f"an image of rank {y.rank} and {len(size)} sizes")
    keys = how == "half_pixel"
    for axis, new in enumerate(size, start=1):
        old = y.shape[axis]
        if not isinstance(old, int) or min(old, new) < 1:
            step.unsupported(f"a resize of {old} to {new} elements", "fix the input shapes")
        if old == new and not keys:
            continue
        step.check_table(new, 4)
        places, weights = cubic(_Tabled(old, new, new / old, how), -0.5 if keys else -0.75, False, keys)
        tables = step.constant(places), step.constant(weights.astype(y.dtype.numpy))
        y = step.emit("resample", y, *tables, axis=axis)
    return y


def _floats(step: Step) -> Tensor:
    x = step.input(0)
    return x if x.dtype.is_float else step.emit("cast", x, to=DType.F32)


@dataclass(frozen=True)
class _Tabled(AxisResize):
    """Positions as the table has them."""

    def positions(self) -> Array:
        exact = super().positions()
        below = np.floor(exact)
        return np.asarray(below + np.rint((exact - below) * _STEPS) / _STEPS)
