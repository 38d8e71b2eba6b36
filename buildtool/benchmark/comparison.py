"""Two libraries side by side: the ratio of their times, and how sure it is."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from buildtool.benchmark import distribution
from buildtool.benchmark.distribution import median_interval
from buildtool.devices.runner import RunResult

_KEY = ("model", "abi", "device", "threads")


def interleaved(own: Callable[[], RunResult], other: Callable[[], RunResult], pairs: int) -> dict[str, Any]:
    """Both take turns, and who begins changes each time, so that a slow minute of the machine is that of both.

    The ratio is that of the medians of each pair: less than 1 says that the first library is faster.
    """
    rounds: tuple[list[int], list[int]] = ([], [])
    ratios = []
    for number in range(pairs):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        results: dict[int, RunResult] = {}
        for which in order:
            results[which] = (own, other)[which]()
            rounds[which].extend(results[which].rounds)
        ratios.append(results[0].milliseconds / results[1].milliseconds)
    return {
        "pairs": pairs,
        "ratios": ratios,
        **_ratio(ratios),
        "own": distribution.describe(rounds[0]),
        "other_figures": distribution.describe(rounds[1]),
    }


def _ratio(ratios: Sequence[float]) -> dict[str, Any]:
    low, high, confidence = median_interval(sorted(ratios))
    sure = confidence >= distribution.CONFIDENCE
    verdict = "faster" if high < 1 else "slower" if low > 1 else "no difference"
    return {
        "ratio": statistics.median(ratios),
        "interval": [low, high],
        "confidence": confidence,
        "verdict": verdict if sure else "too few pairs",
    }


def with_earlier(now: Sequence[Mapping[str, Any]], before: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each measurement beside that of the same model, ABI, device and threads in an earlier document."""
    known = {tuple(item.get(key) for key in _KEY): item for item in before.get("measurements", ())}
    compared = []
    for item in now:
        old = known.get(tuple(item[key] for key in _KEY))
        entry: dict[str, Any] = {key: item[key] for key in _KEY} | {"unit": item["unit"]}
        if old is None or old.get("unit") != item["unit"]:
            compared.append({**entry, "found": False})
            continue
        compared.append({**entry, "found": True, **_change(item, old), "nodes": _changes(item, old)})
    return compared


def _change(item: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    if item["unit"] == "instructions":
        before, after = old["instructions"], item["instructions"]
        counted = exact(after, before)
        return {"before": before, "after": after, "ratio": counted["ratio"], "verdict": counted["verdict"]}
    before, after = old["plain"], item["plain"]
    (low, high), (old_low, old_high) = after["median_interval"], before["median_interval"]
    verdict = "faster" if high < old_low else "slower" if low > old_high else "no difference"
    sure = min(after["confidence"], before["confidence"]) >= distribution.CONFIDENCE
    return {
        "before": before["median"],
        "after": after["median"],
        "ratio": after["median"] / before["median"],
        "interval": [low / old_high, high / old_low],  # the worst of both ends: the runs were not side by side
        "verdict": verdict if sure else "too few rounds",
    }


def exact(own: int, other: int) -> dict[str, Any]:
    """Two counts of instructions: there is nothing to be unsure of."""
    verdict = "fewer" if own < other else "more" if own > other else "the same"
    return {"own": own, "other_figures": other, "ratio": own / max(1, other), "verdict": verdict}


def _named(nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str, int], Mapping[str, Any]]]:
    """Nodes by name, operator, and how often that came before: other passes give nodes other numbers."""
    seen: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        name = (node["name"], node["op"])
        yield (*name, seen[name]), node
        seen[name] += 1


def _changes(item: Mapping[str, Any], old: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What changed by node, the largest difference first."""
    key = "instructions" if item["unit"] == "instructions" else "median_ms"
    before = {name: node[key] for name, node in _named(old["nodes"])}
    pairs = [(node, before.get(name)) for name, node in _named(item["nodes"])]
    found = [
        {"name": node["name"], "op": node["op"], "before": was, "after": node[key], "difference": node[key] - was}
        for node, was in pairs
        if was is not None
    ]
    return sorted(found, key=lambda entry: -abs(entry["difference"]))
