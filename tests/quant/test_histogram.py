"""Streaming histograms against histograms of everything at once."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.quant.histogram import HALF, Histogram


def _numbers() -> np.ndarray:
    random = np.random.default_rng(3)
    parts = [random.normal(size=5000) * scale for scale in (1e-3, 1.0, 30.0, 4e4)]
    return np.concatenate([*parts, np.zeros(700)]).astype(np.float32)


def _same(one: Histogram, other: Histogram) -> bool:
    pairs = zip(one.state().items(), other.state().items(), strict=True)
    return all(a == b and np.array_equal(x, y) for (a, x), (b, y) in pairs)


def test_counts_are_those_of_numpy() -> None:
    numbers = _numbers()
    histogram = Histogram()
    for part in np.array_split(numbers, 37):  # the range grows three times by a lot
        histogram.add(part)
    expected, _ = np.histogram(numbers.astype(np.float64), histogram.edges)
    assert np.array_equal(histogram.counts, expected)
    assert histogram.total == numbers.size
    assert histogram.zeros == 700
    assert (histogram.low, histogram.high) == (numbers.min(), numbers.max())
    assert HALF * histogram.width / 2 <= np.abs(numbers).max() < HALF * histogram.width


@pytest.mark.parametrize("seed", range(5))
def test_parts_that_are_merged_are_the_whole_in_any_order(seed: int) -> None:
    numbers = _numbers()
    whole = Histogram()
    whole.add(numbers)
    random = np.random.default_rng(seed)
    parts = []
    for piece in np.array_split(random.permutation(numbers), 11):
        part = Histogram()
        part.add(piece)
        parts.append(part)
    merged = Histogram()
    for index in random.permutation(len(parts)):
        merged.merge(parts[index])
    merged.merge(Histogram())
    assert _same(merged, whole)


@pytest.mark.parametrize(
    "numbers",
    [
        [0.0], [1.0], [-1.0], [8.0, -8.0], [3.4e38, -3.4e38], [1e-45, -1e-45, 0.0], [1e-40, 3e38], [-0.0, 0.0, 2.5],
        [1.1754944e-38], [np.finfo(np.float32).max],
    ],
)  # fmt: skip
def test_every_number_has_its_bin(numbers: list[float]) -> None:
    array = np.array(numbers, np.float32)
    histogram = Histogram()
    histogram.add(array)
    places = np.floor(array.astype(np.float64) / histogram.width).astype(int) + HALF
    assert np.array_equal(histogram.counts, np.bincount(places, minlength=2 * HALF))
    again = Histogram()
    for number in array:
        again.add(np.array([number]))
    assert _same(histogram, again)


def test_a_state_is_taken_up_again() -> None:
    first, second, numbers = Histogram(), Histogram(), _numbers()
    first.add(numbers[:9000])
    second.restore(first.state())
    for histogram in (first, second):
        histogram.add(numbers[9000:])
    assert _same(first, second)


def test_nothing_adds_nothing() -> None:
    histogram = Histogram()
    histogram.add(np.empty((0, 3), np.float32))
    assert histogram.total == 0 and histogram.low > histogram.high
