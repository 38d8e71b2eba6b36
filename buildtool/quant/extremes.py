"""The ranges of single samples, and what MACE makes one range of them by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from buildtool.ir.operator import Array
from buildtool.quant.histogram import Histogram

#: So many numbers are kept as they are; of more only their histogram.
KEPT = 4096
_NARROWEST = 0.1  # MACE never makes a range narrower than that


def overall(lows: Array, highs: Array, percentile: float = 0.0) -> tuple[float, float]:
    """One range of those of the samples: `percentile` of the lows and of the highs lie outside."""
    return float(np.percentile(lows, percentile)), float(np.percentile(highs, 100 - percentile))


def enhanced(lows: Array, highs: Array, percentile: float = 0.0, ratio: float = 10.0) -> tuple[float, float]:
    """The overall range without the rare extremes that make it wide.

    From both sides one sample after the other is given up. Where the share of the range that this saves is more than
    `ratio` times the share of samples that it costs, the range ends there, and counting begins anew.
    """
    low, high = overall(lows, highs, percentile)
    count = len(lows)
    ups, downs = np.sort(lows), np.sort(highs)[::-1]
    low_at = high_at = 0
    for index in range(count):
        if ups[index] + _NARROWEST > high:
            break
        if _pays(ups[index] - low, high - low, index - low_at, count - low_at, ratio):
            low, low_at = float(ups[index]), index
        if low + _NARROWEST > downs[index]:
            break
        if _pays(high - downs[index], high - low, index - high_at, count - high_at, ratio):
            high, high_at = float(downs[index]), index
    return low, high


def _pays(saved: float, of_range: float, given_up: int, of_samples: int, ratio: float) -> bool:
    return given_up > 0 and saved / of_range > ratio * given_up / of_samples


class Numbers:
    """Numbers, one of each sample: as many as are kept as they are, and of more their histogram."""

    def __init__(self) -> None:
        self._kept = np.empty(0, np.float32)
        self._counted: Histogram | None = None

    def add(self, number: float) -> None:
        self._take(np.array([number], np.float32))

    def merge(self, other: Numbers) -> None:
        if other._counted is not None:
            self._count().merge(other._counted)
        else:
            self._take(other._kept)

    def all(self) -> Array:
        """Every number, the least first; where they were counted, the beginning of its bin."""
        if self._counted is None:
            return np.sort(self._kept)
        begins: Array = np.repeat(self._counted.edges[:-1], self._counted.counts)
        return begins.clip(self._counted.low, self._counted.high)

    def state(self) -> dict[str, Array]:
        return {"kept": np.sort(self._kept)} if self._counted is None else self._counted.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        if "kept" in state:
            self._kept = np.array(state["kept"], np.float32)
        else:
            self._count().restore(state)

    def _take(self, numbers: Array) -> None:
        if self._counted is None and self._kept.size + numbers.size <= KEPT:
            self._kept = np.concatenate((self._kept, numbers))
        else:
            self._count().add(numbers)

    def _count(self) -> Histogram:
        if self._counted is None:
            self._counted = Histogram()
            self._counted.add(self._kept)
            self._kept = np.empty(0, np.float32)
        return self._counted
