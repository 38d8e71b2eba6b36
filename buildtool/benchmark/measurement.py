"""One model on one device: the figures of all eight sections that MACE's benchmark has, as data."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from buildtool.benchmark import distribution
from buildtool.benchmark.counting import Counts
from buildtool.benchmark.node_facts import fact_of
from buildtool.benchmark.roofline import Peak
from buildtool.devices.runner import NodeTime, RunResult

_LANES = {"f32": 4, "f16": 8, "s8": 16}  # multiply-accumulates of one instruction on ARM, at most

Facts = Sequence[Mapping[str, Any]]


def timed(result: RunResult, facts: Facts, peak: Peak | None) -> dict[str, Any]:
    """Of runs that took time on a processor."""
    longest = _longest(result.nodes)
    rows = []
    for node in result.nodes:
        known = dict(fact_of(facts, node.index, node.op))
        if on_gpu(node.kernel):
            known["bytes"] = known["gpu_bytes"]
        if longest[node.index] is not node:
            known.update(macs=0, bytes=0)
        rows.append(_timed_node(node, known, peak))
    _add_shares(rows, "avg_ms")
    macs = sum(row["macs"] for row in rows)
    return {
        "unit": "seconds",
        "create_ms": result.create / 1e6,
        "warmup": distribution.describe(result.warmup),
        "plain": distribution.describe(result.rounds),
        "observed": distribution.describe(result.observed),
        "rounds_ms": [time / 1e6 for time in result.rounds],
        "nodes": rows,
        "threads_of_loops": [
            {"thread": span.thread, "slices": span.slices, "start_ms": span.start / 1e6, "end_ms": span.end / 1e6}
            for span in sorted(result.threads, key=lambda span: (span.thread, span.start))
        ],
        "operators": _operators(rows, "avg_ms"),
        "macs": {"total": macs, "round": len(result.observed), **_speeds(macs, result.observed)},
        "energy": _energy(result),
        "peak": peak.as_json() if peak else None,
        "share_of_peak": _share_of_all(rows),
        "memory": dict(result.memory),
        **({"gpu": dict(result.gpu)} if result.gpu else {}),
    }


def _longest(nodes: Sequence[NodeTime]) -> dict[int, NodeTime]:
    """By node the kernel of it that takes longest: on a GPU a node may take several. What it computes stands there."""
    found: dict[int, NodeTime] = {}
    for node in nodes:
        if node.index not in found or node.median > found[node.index].median:
            found[node.index] = node
    return found


def counted(result: RunResult, counts: Counts, facts: Facts) -> dict[str, Any]:
    """Of a run in an emulator: instructions."""
    rows = []
    for node, counted_node in zip(result.nodes, counts.nodes, strict=True):
        known = fact_of(facts, node.index, node.op)
        rows.append(
            {
                **_facts(node, known),
                "instructions": counted_node.instructions,
                "accesses": counted_node.accesses,
                "bound": known["macs"] // _LANES[known["computes_in"]],
            }
        )
    _add_shares(rows, "instructions")
    bound = sum(row["bound"] for row in rows)
    return {
        "unit": "instructions",
        "instructions": counts.run.instructions,
        "accesses": counts.run.accesses,
        "bound": bound,
        "ratio": counts.run.instructions / bound if bound else None,
        "nodes": rows,
        "operators": _operators(rows, "instructions"),
        "macs": {"total": sum(row["macs"] for row in rows), "round": 1},
        "memory": dict(result.memory),
        **({"gpu": dict(result.gpu)} if result.gpu else {}),
    }


def _facts(node: NodeTime, known: Mapping[str, Any]) -> dict[str, Any]:
    return {"index": node.index, "name": node.name, "op": node.op, "kernel": node.kernel} | {
        key: known[key] for key in ("macs", "bytes", "computes_in", "stride", "pad", "dilation", "filter", "output")
    }


def _timed_node(node: NodeTime, known: Mapping[str, Any], peak: Peak | None) -> dict[str, Any]:
    kind = "s8" if "_s8_" in node.kernel else known["computes_in"]
    share = None
    if peak is not None and (known["macs"] or known["bytes"]) and (peak.source == "given" or not on_gpu(node.kernel)):
        share = peak.share(known["macs"], known["bytes"], kind, node.median)
    return {
        **_facts(node, known),
        "start_ms": node.start / 1e6,
        "end_ms": node.end / 1e6,
        "first_ms": node.first / 1e6,
        "avg_ms": node.mean / 1e6,
        "median_ms": node.median / 1e6,
        "min_ms": node.nanoseconds / 1e6,
        "std_ms": node.deviation / 1e6,
        "gmacs": known["macs"] / node.mean if node.mean else 0.0,
        "gb_s": known["bytes"] / node.mean if node.mean else 0.0,
        "share_of_peak": share[0] if share else None,
        "limit": share[1] if share else None,
    }


def on_gpu(kernel: str) -> bool:
    """Whether a GPU ran this: its kernels have the names of units, without a type and an instruction set."""
    return "__" not in kernel


def _add_shares(rows: Iterable[dict[str, Any]], key: str) -> None:
    """The percentage of each row, and of it with all rows in front of it."""
    rows = list(rows)
    whole, so_far = sum(row[key] for row in rows) or 1, 0.0
    for row in rows:
        so_far += row[key]
        row["percent"] = 100 * row[key] / whole
        row["cumulative"] = 100 * so_far / whole


def _operators(rows: Sequence[Mapping[str, Any]], key: str) -> list[dict[str, Any]]:
    """Sums over the nodes of each operator, the most expensive first."""
    sums = []
    for op in dict.fromkeys(row["op"] for row in rows):
        own = [row for row in rows if row["op"] == op]
        cost, macs = sum(row[key] for row in own), sum(row["macs"] for row in own)
        count = len({row["index"] for row in own})
        entry = {"op": op, "count": count, key: cost, "macs": macs, "called": len(own)}
        sums.append(entry | ({"gmacs": macs / cost / 1e6 if cost else 0.0} if key == "avg_ms" else {}))
    sums.sort(key=lambda entry: -entry[key])
    _add_shares(sums, key)
    return sums


def _speeds(macs: int, observed: Sequence[int]) -> dict[str, float]:
    if not observed:
        return {}
    return {"first": macs / max(1, observed[0]), "avg": macs / max(1.0, statistics.fmean(observed))}


def _energy(result: RunResult) -> dict[str, Any]:
    if not result.energy:
        return {"known": False}
    runs = len(result.rounds)
    joules = {name: count / 1e6 for name, count in result.energy.items()}
    return {"known": True, "joules": joules, "millijoules_a_run": {k: 1e3 * v / runs for k, v in joules.items()}}


def _share_of_all(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The time of perfect kernels by the time of all nodes; None where nothing is known of the processor."""
    known = [row for row in rows if row["share_of_peak"] is not None]
    spent = sum(row["median_ms"] for row in known)
    return sum(row["share_of_peak"] * row["median_ms"] for row in known) / spent if spent else None
