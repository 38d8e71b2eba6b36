"""Between which numbers a tensor lies, from one array after the other, in memory that does not grow with them.

An estimator sees the tensor once for each sample. Parts that several have seen are merged in the order of the samples:
the result is that of one who has seen all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from buildtool.ir.operator import Array
from buildtool.quant import thresholds
from buildtool.quant.extremes import Numbers, enhanced
from buildtool.quant.histogram import Histogram


@dataclass(frozen=True)
class Settings:
    """What estimators may be told."""

    bits: int = 8
    percentile: float | None = None  # percent of the numbers that lie outside on each side
    ratio: float = 10.0  # of what an extreme costs in range to its share of the samples
    momentum: float = 0.9  # share of a mean that stays when the next sample comes


class Estimator(Protocol):
    """The range of one tensor. Arrays hold finite numbers only."""

    def update(self, array: Array) -> None:
        """See the tensor of one more sample."""

    def merge(self, other: Any) -> None:
        """Have seen what another estimator saw, whose samples come behind these; of the same kind."""

    def range(self) -> tuple[float, float]:
        """The range of what was seen; (0, 0) of nothing."""

    def state(self) -> dict[str, Array]:
        """All that it knows."""

    def restore(self, state: Mapping[str, Array]) -> None:
        """Know that, instead of what was known."""


class MinMax:
    """From the least to the largest number."""

    def __init__(self, settings: Settings) -> None:
        self._ends = np.array([math.inf, -math.inf])

    def update(self, array: Array) -> None:
        if array.size:
            self._take(float(array.min()), float(array.max()))

    def merge(self, other: MinMax) -> None:
        self._take(*other._ends)

    def range(self) -> tuple[float, float]:
        low, high = map(float, self._ends)
        return (low, high) if low <= high else (0.0, 0.0)

    def state(self) -> dict[str, Array]:
        return {"ends": self._ends}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._ends = np.array(state["ends"])

    def _take(self, low: float, high: float) -> None:
        self._ends = np.array([min(self._ends[0], low), max(self._ends[1], high)])


class MovingAverage:
    """The mean of the ends of all samples, in which later samples count more."""

    def __init__(self, settings: Settings) -> None:
        self._momentum = settings.momentum
        self._sums = np.zeros(2)
        self._weight = 0.0
        self._samples = 0

    def update(self, array: Array) -> None:
        if array.size:
            self._behind(np.array([float(array.min()), float(array.max())]), 1.0, 1)

    def merge(self, other: MovingAverage) -> None:
        self._behind(other._sums, other._weight, other._samples)

    def range(self) -> tuple[float, float]:
        low, high = self._sums / (self._weight or 1.0)
        return float(low), float(high)

    def state(self) -> dict[str, Array]:
        return {"sums": self._sums, "weight": np.array([self._weight, self._samples])}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._sums = np.array(state["sums"])
        self._weight, self._samples = float(state["weight"][0]), int(state["weight"][1])

    def _behind(self, sums: Array, weight: float, samples: int) -> None:
        left = self._momentum**samples
        self._sums = self._sums * left + sums
        self._weight = self._weight * left + weight
        self._samples += samples


class Enhanced:
    """The ranges of all samples without their rare extremes, as MACE leaves them out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lows, self._highs = Numbers(), Numbers()

    def update(self, array: Array) -> None:
        if array.size:
            self._lows.add(float(array.min()))
            self._highs.add(float(array.max()))

    def merge(self, other: Enhanced) -> None:
        self._lows.merge(other._lows)
        self._highs.merge(other._highs)

    def range(self) -> tuple[float, float]:
        lows, highs = self._lows.all(), self._highs.all()
        if not lows.size:
            return 0.0, 0.0
        return enhanced(lows, highs, self._settings.percentile or 0.0, self._settings.ratio)

    def state(self) -> dict[str, Array]:
        parts = {"low": self._lows, "high": self._highs}
        return {f"{end}.{key}": array for end, part in parts.items() for key, array in part.state().items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._lows, self._highs = Numbers(), Numbers()
        for end, part in (("low.", self._lows), ("high.", self._highs)):
            part.restore({key.removeprefix(end): array for key, array in state.items() if key.startswith(end)})


class _Counted:
    """What decides by a histogram of all numbers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._numbers = Histogram()

    def update(self, array: Array) -> None:
        self._numbers.add(array)

    def merge(self, other: _Counted) -> None:
        self._numbers.merge(other._numbers)

    def range(self) -> tuple[float, float]:
        return self._chosen() if self._numbers.total else (0.0, 0.0)

    def state(self) -> dict[str, Array]:
        return self._numbers.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self._numbers.restore(state)

    def _chosen(self) -> tuple[float, float]:
        raise NotImplementedError


class Percentile(_Counted):
    """All but the given part of the numbers on each side."""

    def _chosen(self) -> tuple[float, float]:
        percent = PERCENTILE if self._settings.percentile is None else self._settings.percentile
        numbers = self._numbers
        outside = numbers.total * percent / 100
        low = np.searchsorted(np.cumsum(numbers.counts), outside, side="right")
        high = np.searchsorted(np.cumsum(numbers.counts[::-1]), outside, side="right")
        edges = numbers.edges
        return max(numbers.low, float(edges[low])), min(numbers.high, float(edges[::-1][high]))


class Divergence(_Counted):
    """What changes the distribution least: the divergence of Kullback and Leibler, as Paddle and TensorRT use it."""

    def _chosen(self) -> tuple[float, float]:
        return thresholds.least_divergence(self._numbers, self._settings.bits)


class SquareError(_Counted):
    """The least sum of squared errors."""

    def _chosen(self) -> tuple[float, float]:
        return thresholds.least_square_error(self._numbers, self._settings.bits)


#: Percent of the numbers that `percentile` leaves outside on each side where nothing else is said.
PERCENTILE = 0.01
#: All estimators by their names.
ESTIMATORS: Mapping[str, Callable[[Settings], Estimator]] = {
    "min-max": MinMax,
    "percentile": Percentile,
    "enhance": Enhanced,
    "kl": Divergence,
    "mse": SquareError,
    "moving-average": MovingAverage,
}
WHOLE = "min-max"  # cuts nothing off
