"""The figures of many measurements."""

from __future__ import annotations

import random
import statistics

import pytest

from buildtool.benchmark import distribution


def test_the_figures() -> None:
    found = distribution.describe([4_000_000, 1_000_000, 3_000_000, 2_000_000])
    assert found is not None
    assert (found["round"], found["first"], found["curr"]) == (4, 4.0, 2.0)
    assert (found["min"], found["max"], found["avg"], found["median"]) == (1.0, 4.0, 2.5, 2.5)
    assert found["std"] == pytest.approx(statistics.stdev([1, 2, 3, 4]))
    assert found["variance"] == pytest.approx(found["std"] ** 2)
    assert distribution.describe([]) is None


def test_percentiles_lie_between_measurements() -> None:
    assert distribution.percentile([0.0, 10.0], 25) == 2.5
    assert distribution.percentile([7.0], 99) == 7.0
    assert distribution.percentile([float(i) for i in range(101)], 95) == 95.0


@pytest.mark.parametrize(("count", "cut", "confidence"), [(6, 0, 0.96875), (10, 1, 0.978515625), (5, 0, 0.9375)])
def test_the_interval_counts_both_sides(count: int, cut: int, confidence: float) -> None:
    ordered = [float(i) for i in range(count)]
    assert distribution.median_interval(ordered) == (cut, count - 1 - cut, confidence)


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    source = random.Random(3)
    hits = 0
    for _ in range(2000):
        low, high, confidence = distribution.median_interval(sorted(source.expovariate(1.0) for _ in range(25)))
        hits += low <= 0.6931471805599453 <= high
    assert confidence == pytest.approx(0.9567, abs=1e-4)
    assert hits / 2000 == pytest.approx(confidence, abs=0.015)
