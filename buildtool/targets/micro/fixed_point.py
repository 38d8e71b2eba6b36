"""The fixed-point arithmetic of LiteRT's integer kernels, in NumPy and as constants of the C kernels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def multiplier_of(real: float) -> tuple[int, int]:
    """A positive real number as a multiplier of 31 bits and a shift to the left, as LiteRT rounds it."""
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    multiplier = _rounded(fraction * (1 << 31))
    if multiplier == 1 << 31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    return multiplier, shift


def _rounded(value: float) -> int:
    """Half away from zero, as C rounds."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def high_product(values: Ints, multiplier: Ints | int) -> Ints:
    """Twice the product, its upper 32 bits, rounded."""
    return (values * np.asarray(multiplier, np.int64) + (1 << 30)) >> 31


def shifted_right(values: Ints, shift: Ints | int) -> Ints:
    """Divided by a power of two, half away from zero."""
    shift = np.asarray(shift, np.int64)
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    return (values + half - ((values < 0) & (shift > 0))) >> shift


def scaled(values: Ints, multiplier: Ints | int, shift: Ints | int) -> Ints:
    """Times a real number, given as `multiplier_of` gives it."""
    shift = np.asarray(shift, np.int64)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    return shifted_right(high_product(values << left, multiplier), right)


def scaled_once(values: Ints, multiplier: Ints | int, shift: Ints | int) -> Ints:
    """The same with one rounding, half up: LiteRT's products with matrices."""
    total = 31 - np.asarray(shift, np.int64)
    found: Ints = (values * np.asarray(multiplier, np.int64) + (np.int64(1) << (total - 1))) >> total
    return found


def clamped(values: Ints, low: int, high: int) -> NDArray[np.int8]:
    return np.clip(values, low, high).astype(np.int8)
