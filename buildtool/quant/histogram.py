"""How often numbers lie where, counted one array after the other in memory that does not grow.

The bins are as wide as a power of two. When a number lies outside of all of them, twice as many (or four times, ...)
become one. So the counts depend on the numbers alone: not on their order, nor on who counted which of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from buildtool.ir.operator import Array

#: Bins of a side: zero is between the two halves.
HALF = 4096
_BLOCK = 1 << 16  # numbers that are counted at once: what that takes stays in the cache
_LEAST = -100  # exponent: the reciprocal of a width is a normal number of single precision, too


class Histogram:
    """Counts of finite numbers of single precision."""

    def __init__(self) -> None:
        self.low = math.inf
        self.high = -math.inf
        self.zeros = 0  # of `counts`
        self.counts = np.zeros(2 * HALF, np.int64)
        self._exponent = _LEAST  # all numbers so far are inside of [-2**exponent, 2**exponent)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def width(self) -> float:
        """Of a bin."""
        return math.ldexp(1.0, self._exponent) / HALF

    @property
    def edges(self) -> Array:
        """Where bins begin, and where the last one ends."""
        return np.arange(-HALF, HALF + 1) * self.width

    def add(self, numbers: Array) -> None:
        """Count these."""
        flat = np.ascontiguousarray(numbers, np.float32).reshape(-1)
        if not flat.size:
            return
        self._reach(float(flat.min()), float(flat.max()))
        per_width = np.float32(1 / self.width)
        for start in range(0, flat.size, _BLOCK):
            block = flat[start : start + _BLOCK] * per_width
            places = np.floor(block, out=block).astype(np.int64)
            places += HALF
            self.counts += np.bincount(places, minlength=2 * HALF)
        self.zeros += flat.size - int(np.count_nonzero(flat))

    def merge(self, other: Histogram) -> None:
        """Count what the other has counted."""
        if other.low > other.high:
            return
        self._reach(other.low, other.high)
        self.counts += _paired(other.counts, self._exponent - other._exponent)
        self.zeros += other.zeros

    def state(self) -> dict[str, Array]:
        ends = np.array([self.low, self.high])
        return {"ends": ends, "counts": self.counts, "scale": np.array([self._exponent, self.zeros])}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.low, self.high = map(float, state["ends"])
        self.counts = np.array(state["counts"], np.int64)
        self._exponent, self.zeros = map(int, state["scale"])

    def _reach(self, low: float, high: float) -> None:
        """Make the bins wide enough."""
        self.low, self.high = min(self.low, low), max(self.high, high)
        largest = max(-self.low, self.high)
        needed = max(math.frexp(largest)[1], _LEAST) if largest else _LEAST
        if needed > self._exponent:
            self.counts = _paired(self.counts, needed - self._exponent)
            self._exponent = needed


def _paired(counts: Array, times: int) -> Array:
    """The counts in bins that are 2**times as wide; there are as many of them."""
    paired = np.zeros_like(counts)
    for sign in (-1, 1):  # away from zero
        side = counts[:HALF][::-1] if sign < 0 else counts[HALF:]
        group = 1 << min(times, 12)  # all of a side, at most
        sums = side.reshape(-1, group).sum(axis=1)
        place = paired[:HALF][::-1] if sign < 0 else paired[HALF:]
        place[: sums.size] = sums
    return paired
