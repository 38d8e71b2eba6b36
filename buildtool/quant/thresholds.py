"""Ranges that cut off a few large numbers where all the others gain more by finer steps."""

from __future__ import annotations

import numpy as np

from buildtool.ir.operator import Array
from buildtool.quant.histogram import HALF, Histogram

_STRIDE = 16  # bins between two thresholds that are tried
_TINY = 1e-9  # a share that stands for none
_OCTAVES, _PER_OCTAVE = 8, 16  # ends that are tried: from the largest number down to a 256th of it


def least_divergence(numbers: Histogram, bits: int) -> tuple[float, float]:
    """Those numbers are cut off that leave the distribution nearest to what it was, by Kullback and Leibler.

    Of all thresholds for the size of numbers that one is taken. Zeros count for nothing: every range stores them
    exactly, and where an activation makes most numbers zero, they would hide all others.
    """
    low, high = min(numbers.low, 0.0), max(numbers.high, 0.0)
    largest = max(-low, high)
    positive, negative = _sides(numbers)
    sizes = (positive + negative).astype(np.float64)
    count = int(np.flatnonzero(sizes)[-1]) + 1 if sizes.any() else 0
    steps = (1 << bits) - 1
    levels = max(1, round(steps * largest / (high - low))) if high > low else steps
    if count <= levels:
        return low, high
    tried = [*range(levels, count, _STRIDE), count]
    best = min(tried, key=lambda bins: (_divergence(sizes[:count], bins, levels), bins))
    threshold = largest if best == count else best * numbers.width
    return max(low, -threshold), min(high, threshold)


def _divergence(sizes: Array, kept: int, levels: int) -> float:
    """Between the numbers with the larger ones cut off, and the same in so many levels."""
    inside = sizes[:kept]
    clipped = inside.copy()
    clipped[-1] += sizes[kept:].sum()
    starts = np.arange(levels) * kept // levels
    filled = inside > 0
    among = np.add.reduceat(filled.astype(np.float64), starts)
    mean = np.add.reduceat(inside, starts) / np.maximum(among, 1.0)
    levelled = np.repeat(mean, np.diff([*starts, kept])) * filled
    there = clipped > 0
    p = clipped[there] / clipped.sum()
    q = np.maximum(levelled[there] / max(levelled.sum(), 1.0), _TINY)
    return float(np.sum(p * np.log(p / q)))


def least_square_error(numbers: Histogram, bits: int) -> tuple[float, float]:
    """The ends where the squares of all errors sum up to the least: of rounding inside, and of cutting off outside.

    They are `2**bits - 1` steps apart, and zero is one of the steps.
    """
    low, high = min(numbers.low, 0.0), max(numbers.high, 0.0)
    if low == high:
        return low, high
    steps = (1 << bits) - 1
    sums = _Sums(numbers, low, high)
    best = (np.inf, low, high)
    for step in (high - low) / steps * 2.0 ** (-np.arange(_OCTAVES * _PER_OCTAVE + 1) / _PER_OCTAVE):
        first, last = (round(end / step) for end in (low, high))
        bottoms = np.arange(
            max(first, -steps), max(min(last - steps, 0), first) + 1
        )  # whatever lies inside of the range
        errors = sums.errors(step, bottoms, bottoms + steps)
        least = int(np.argmin(errors))
        if errors[least] < best[0]:
            best = (float(errors[least]), bottoms[least] * step, (bottoms[least] + steps) * step)
    return float(best[1]), float(best[2])


class _Sums:
    """Sums over the numbers below an edge of a bin, from which errors between any two edges follow."""

    def __init__(self, numbers: Histogram, low: float, high: float) -> None:
        self._counts = numbers.counts.astype(np.float64)
        self._counts[HALF] -= numbers.zeros  # they are stored exactly
        edges = numbers.edges
        self._middles = np.clip((edges[:-1] + edges[1:]) / 2, low, high)
        self._spread = numbers.width**2 / 12  # of the numbers of a bin
        self._powers = [_below(self._counts * self._middles**power) for power in range(3)]

    def errors(self, step: float, bottoms: Array, tops: Array) -> Array:
        """With these steps, for each pair of ends: whole numbers of steps."""
        rounding = np.square(np.rint(self._middles / step) * step - self._middles) + self._spread
        rounded = _below(self._counts * rounding)
        low, high = bottoms * step, tops * step
        first, last = np.searchsorted(self._middles, low), np.searchsorted(self._middles, high, side="right")
        below = [power[first] for power in self._powers]
        above = [power[-1] - power[last] for power in self._powers]
        return np.asarray(rounded[last] - rounded[first] + _away(below, low) + _away(above, high))


def _below(sums: Array) -> Array:
    return np.asarray(np.append(0.0, np.cumsum(sums)))


def _away(powers: list[Array], end: Array) -> Array:
    """The squares of what numbers lose that become this end."""
    count, total, squares = powers
    return np.asarray(squares - 2 * end * total + np.square(end) * count)


def _sides(numbers: Histogram) -> tuple[Array, Array]:
    """Counts of positive and of negative numbers, by their size."""
    positive, negative = numbers.counts[HALF:].copy(), numbers.counts[:HALF][::-1]
    positive[0] -= numbers.zeros
    return positive, negative
