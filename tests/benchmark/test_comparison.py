"""Two libraries, two results: who is said to be faster, and when nobody is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.benchmark import comparison, distribution
from buildtool.benchmark.roofline import Peak
from buildtool.devices.runner import RunResult


def result(nanoseconds: float, spread: float, source: np.random.Generator) -> RunResult:
    times = tuple(int(nanoseconds * source.normal(1, spread)) for _ in range(20))
    return RunResult(outputs={}, milliseconds=float(np.median(times)) / 1e6, rounds=times)


@pytest.mark.parametrize(("factor", "verdict"), [(0.8, "faster"), (1.0, "no difference"), (1.25, "slower")])
def test_libraries_in_turns(factor: float, verdict: str) -> None:
    source = np.random.default_rng(1)
    order: list[str] = []
    minute = iter(np.repeat([1.0, 1.5, 1.0, 3.0, 1.2], 4))  # the machine is slower at times, for both of a pair

    def run(name: str, own: float) -> RunResult:
        order.append(name)
        return result(1e6 * own * next(minute), 0.02, source)

    found = comparison.interleaved(lambda: run("own", factor), lambda: run("other", 1.0), 10)
    assert order[:4] == ["own", "other", "other", "own"]
    assert found["verdict"] == verdict
    low, high = found["interval"]
    assert low <= found["ratio"] <= high
    assert low <= factor <= high
    assert found["own"]["round"] == found["other_figures"]["round"] == 200


def test_few_pairs_decide_nothing() -> None:
    source = np.random.default_rng(2)
    found = comparison.interleaved(lambda: result(1e6, 0.01, source), lambda: result(9e6, 0.01, source), 3)
    assert found["verdict"] == "too few pairs"


def measurement(median: int, node: float, **other: Any) -> dict[str, Any]:
    times = [median + i for i in range(20)]
    nodes = [{"index": 0, "name": "a", "op": "relu", "median_ms": node}]
    item = {"model": "m", "abi": "host", "device": "local", "threads": 1, "unit": "seconds", "nodes": nodes}
    return {**item, "plain": distribution.describe(times), **other}


def test_a_result_beside_an_earlier_one() -> None:
    now = [measurement(100, 0.5), measurement(100, 0.5, abi="arm")]
    first, second = comparison.with_earlier(now, {"measurements": [measurement(200, 0.7)]})
    assert (first["found"], first["verdict"]) == (True, "faster")
    assert first["ratio"] == pytest.approx(109.5 / 209.5)
    assert first["nodes"][0]["difference"] == pytest.approx(-0.2)
    assert not second["found"]
    (same,) = comparison.with_earlier([measurement(205, 0.7)], {"measurements": [measurement(200, 0.7)]})
    assert same["verdict"] == "no difference"


def test_counts_are_exact() -> None:
    assert comparison.exact(90, 100) == {"own": 90, "other_figures": 100, "ratio": 0.9, "verdict": "fewer"}
    assert comparison.exact(100, 100)["verdict"] == "the same"


def test_the_larger_share_of_computing_and_memory_limits_a_node() -> None:
    figures = {"f32_mmacs": 50_000, "s8_mmacs": 200_000, "reading": [{"bytes": 1000, "mb_s": 100_000}]}
    peak = Peak.measured(figures | {"reading": [*figures["reading"], {"bytes": 10**6, "mb_s": 10_000}]})  # type: ignore[misc]
    assert peak.share(50_000, 100, "f32", 2000) == (0.5, "computing")
    assert peak.share(50_000, 100, "s8", 1000) == (0.25, "computing")
    assert peak.share(0, 900, "f32", 18) == (0.5, "memory")
    assert peak.share(0, 5000, "f32", 1000) == (0.5, "memory")  # of the larger buffer
    assert peak.share(0, 10**9, "f32", 10**9) == (0.1, "memory")  # larger than all of them
    assert peak.share(100, 100, "f16", 10) is None
    assert Peak.given(50, 10).share(0, 10**9, "f32", 10**9) == (0.1, "memory")
