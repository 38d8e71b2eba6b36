"""Which whole numbers constants are stored as."""

from __future__ import annotations

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType

_MOST = 127  # symmetric: -128 is left out, so that sums of two products fit in 16 bits
_LEAST = 64  # the largest number of a column that has been quantised before, with nothing but smaller ones, is not less
_NEAR = 1e-3  # of a step: as close as numbers are that came from a grid


def column_grid(array: Array, axis: int) -> QuantType:
    """A scale for each element of the axis, and no zero points.

    Weights that came from 8 bits are found to be whole numbers of some scale: they get that one, and lose nothing.
    """
    columns = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]).astype(np.float64)
    largest = np.abs(columns).max(axis=0)
    tiny = float(np.finfo(np.float32).tiny) * 256
    scales = np.where(largest < tiny, 1.0, largest / _MOST)
    open_ = np.flatnonzero(largest >= tiny)
    for most in range(_MOST, _LEAST - 1, -1):
        if not open_.size:
            break
        scale = largest[open_] / most
        steps = columns[:, open_] / scale
        found = np.abs(steps - np.rint(steps)).max(axis=0) < _NEAR
        scales[open_[found]] = scale[found]
        open_ = open_[~found]
    return QuantType(tuple(float(np.float32(scale)) for scale in scales), (0,) * scales.size, axis)


def whole_grid(array: Array) -> QuantType:
    """One scale and zero point for all numbers: 0 is one of them, exactly."""
    low, high = min(float(array.min()), 0.0), max(float(array.max()), 0.0)
    scale = float(np.float32((high - low) / 255)) or 1.0
    zero = int(np.clip(np.rint(-128 - low / scale), -128, 127))
    return QuantType((scale,), (zero,))
