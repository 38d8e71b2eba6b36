"""What many measurements of one thing say together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

CONFIDENCE = 0.95
PERCENTILES = (5, 25, 75, 90, 95, 99)


def describe(nanoseconds: Sequence[int]) -> dict[str, Any] | None:
    """The figures in milliseconds; None of nothing. `first` and `curr` (the last one) are what MACE's users know."""
    if not nanoseconds:
        return None
    times = [time / 1e6 for time in nanoseconds]
    ordered = sorted(times)
    low, high, confidence = median_interval(ordered)
    return {
        "round": len(times),
        "first": times[0],
        "curr": times[-1],
        "min": ordered[0],
        "max": ordered[-1],
        "avg": statistics.fmean(times),
        "std": statistics.stdev(times) if len(times) > 1 else 0.0,
        "variance": statistics.variance(times) if len(times) > 1 else 0.0,
        "median": statistics.median(ordered),
        "percentiles": {str(percent): percentile(ordered, percent) for percent in PERCENTILES},
        "median_interval": [low, high],
        "confidence": confidence,
    }


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Between the two measurements that are next to it, in proportion."""
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median_interval(ordered: Sequence[float], wanted: float = CONFIDENCE) -> tuple[float, float, float]:
    """Between which two measurements the true median lies, and how likely that is.

    Each measurement is below the true median with probability 1/2, whatever the distribution: how many are is binomial.
    The interval is the narrowest of the symmetric ones that is at least as likely as `wanted`; with five measurements
    or fewer there is none, and the widest one is given with what it is worth.
    """
    count = len(ordered)
    outside, cut = 0.5**count, 0  # the probability that at most `cut` of them are below
    while cut + 1 < count - 1 - cut:
        wider = outside + math.comb(count, cut + 1) / 2**count
        if 1 - 2 * wider < wanted:
            break
        outside, cut = wider, cut + 1
    return ordered[cut], ordered[count - 1 - cut], max(0.0, 1 - 2 * outside)
