"""Which whole numbers constants are stored as."""

from __future__ import annotations

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType

_MOST = 127  # symmetric: weights that were not quantised leave -128 out, which some processors multiply more slowly
_LOWEST = 128  # of weights that were quantised with it: below 0 only
_LEAST = 64  # the largest number of a column that has been quantised before, with nothing but smaller ones, is not less
_FEW = 16  # rows that identify most columns of other weights
_TINY = float(np.finfo(np.float32).tiny) * 256
_NEAR = 1e-3  # of a step: as close as numbers are that came from a grid


def column_grid(array: Array, axis: int) -> QuantType:
    """A scale for each element of the axis, and no zero points.

    Weights that came from 8 bits are found to be whole numbers of some scale: they get that one, and lose nothing.
    """
    columns = _columns(array, axis)
    largest = np.abs(columns).max(axis=0)
    steps = _whole(columns, range(_MOST, _LEAST - 1, -1))
    rest = np.flatnonzero((steps == 0) & (columns.max(axis=0) < largest * (1 - _NEAR / _LOWEST)))
    steps[rest] = _whole(columns[:, rest], range(_LOWEST, _LOWEST + 1))
    scales = np.where(steps > 0, largest / np.maximum(steps, 1), np.where(largest < _TINY, 1.0, largest / _MOST))
    return QuantType(tuple(float(np.float32(scale)) for scale in scales), (0,) * scales.size, axis)


def lost(array: Array, axis: int, quant: QuantType) -> Array:
    """What each column of trained weights loses without its zero point, as the root of the sum of squares.

    Columns that have never been quantised lose nothing that anybody has counted on.
    """
    columns = _columns(array, axis)
    scales = np.asarray(quant.scales, np.float32).astype(np.float64)
    errors = columns - np.rint(columns / scales) * scales
    inexact = np.flatnonzero((np.abs(errors) > _NEAR * scales).any(axis=0))
    trained = inexact[_whole(columns[:, inexact], range(255, _MOST, -1)) > 0]
    found = np.zeros(columns.shape[1])
    found[trained] = np.sqrt((errors[:, trained] ** 2).sum(axis=0))
    return found


def _columns(array: Array, axis: int) -> Array:
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]).astype(np.float64)


def _whole(columns: Array, steps: range) -> Array:
    """How many steps the largest number of each column is, so that all of it are whole numbers; 0 for none of them."""
    largest = np.abs(columns).max(axis=0)
    found = np.zeros(columns.shape[1], int)
    open_ = np.flatnonzero(largest >= _TINY)
    for most in steps:
        if not open_.size:
            break
        fits = np.flatnonzero(_are_whole(columns[:_FEW, open_], largest[open_] / most))
        fits = fits[_are_whole(columns[:, open_[fits]], largest[open_[fits]] / most)]
        found[open_[fits]] = most
        open_ = np.delete(open_, fits)
    return found


def _are_whole(columns: Array, scale: Array) -> Array:
    steps = columns / scale
    return np.asarray(np.abs(steps - np.rint(steps)).max(axis=0) < _NEAR)


def whole_grid(array: Array) -> QuantType:
    """One scale and zero point for all numbers: 0 is one of them, exactly."""
    low, high = min(float(array.min()), 0.0), max(float(array.max()), 0.0)
    scale = float(np.float32((high - low) / 255)) or 1.0
    zero = int(np.clip(np.rint(-128 - low / scale), -128, 127))
    return QuantType((scale,), (zero,))
