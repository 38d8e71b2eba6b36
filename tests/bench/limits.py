"""How near networks come to what this machine can do: `make bench-limits`, or `python -m tests.bench.limits`.

    make bench-limits NETWORKS=vit_tiny,unet_256 RUNS=20 PAGE=1

The limit of a node is the greater of two times: its multiply-adds at the speed of a loop of nothing else, and the bytes
of its inputs, constants and outputs at the speed of reading memory of that size. `lathe_run` measures both speeds
directly after the nodes, so other programs disturb both alike. The limit of a network is the sum over its nodes; its
time is the sum of the shortest time of each node. Winograd's algorithms need fewer multiplications than are counted.
Losses are sums, per kernel, of what nodes took beyond their limits.

Writes build/bench-limits.json, and with `--page` docs/reference/performance-limits.md.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import buildtool
from buildtool.benchmark.roofline import Peak
from buildtool.drafts import deployment
from buildtool.errors import LatheError
from buildtool.settings import Options, RunSettings
from tests.bench import words
from tests.bench.peers import report
from tests.bench.peers.environment import ROOT
from tests.bench.peers.suites import ALL, FOLDER, suite_of
from tests.bench.real import names
from tests.bench.real.files import NetworkError

RESULT = ROOT / "build" / "bench-limits.json"
PAGE = ROOT / "docs" / "reference" / "performance-limits.md"
REASONS = Path(__file__).with_name("limits_reasons.yml")
MOST = 5  # losses that are shown of a class
_ZOO = "five CNNs"


def measured(network: str, runs: int, threads: int) -> Mapping[str, Any]:
    """One model of `lathe bench`: nodes, and what the processor can do."""
    folder = FOLDER / "lathe"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{network}.yml"
    model = suite_of(network).file(network)
    file.write_text(deployment.write([model], relative_to=folder, library_name=network, data_type="fp32_fp32"))
    settings = RunSettings(rounds=runs, warmup=3, threads=threads, profile=True)
    found = buildtool.bench(file, options=Options(folder / "build", archive=False), settings=settings)
    (row,) = found.measurements
    return row


def of_network(network: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a measurement: the sums, and per kernel what it took and could have taken."""
    figures = row["peak"]
    peak = Peak(figures["gmacs"], [(item["bytes"], item["gb_s"]) for item in figures["reading"]], figures["source"])
    kernels: dict[str, dict[str, Any]] = {}
    for node in row["nodes"]:
        kind = "s8" if "_s8_" in node["kernel"] else node["computes_in"]
        share = peak.share(node["macs"], node["bytes"], kind, node["min_ms"] * 1e6)
        limit = share[0] * node["min_ms"] if share else 0.0
        own = kernels.setdefault(node["kernel"], {"nodes": 0, "ms": 0.0, "limit_ms": 0.0, "computing_ms": 0.0})
        own["nodes"] += 1
        own["ms"] += node["min_ms"]
        own["limit_ms"] += limit
        own["computing_ms"] += limit if share and share[1] == "computing" else 0.0
    whole, limit = (sum(kernel[key] for kernel in kernels.values()) for key in ("ms", "limit_ms"))
    return {
        "network": network,
        "class": names.family(network) if network in names.NETWORKS else _ZOO,
        "macs": sum(node["macs"] for node in row["nodes"]),
        "ms": whole,
        "limit_ms": limit,
        "computing_ms": sum(kernel["computing_ms"] for kernel in kernels.values()),
        "share": limit / whole,
        "gmacs": figures["gmacs"]["f32"],
        "gb_s": figures["reading"][-1]["gb_s"],
        "kernels": kernels,
    }


def losses(rows: Sequence[Mapping[str, Any]], most: int = MOST) -> list[dict[str, Any]]:
    """Of the networks of one class, by kernel, the largest first. A network counts by shares of its own time, so that
    large ones do not hide small ones."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for name, kernel in row["kernels"].items():
            lost = (kernel["ms"] - kernel["limit_ms"]) / row["ms"] / len(rows)
            own = found.setdefault(name, {"kernel": name, "lost": 0.0, "ms": 0.0, "limit_ms": 0.0, "most": (0.0, "")})
            own["lost"] += lost
            own["ms"] += kernel["ms"]
            own["limit_ms"] += kernel["limit_ms"]
            own["most"] = max(own["most"], (lost * len(rows), row["network"]))
    return sorted(found.values(), key=lambda own: -own["lost"])[:most]


def reason(kernel: str, reasons: Mapping[str, str]) -> str:
    """Of the longest beginning of the name that is known; empty where there is none."""
    known = [start for start in reasons if kernel.startswith(start)]
    return reasons[max(known, key=len)] if known else ""


def tables(rows: Sequence[Mapping[str, Any]], reasons: Mapping[str, str]) -> list[str]:
    lines = ["## Networks", "", "| network | million multiply-adds | limit, ms | measured, ms | fraction |"]
    lines.append("|---|---|---|---|---|")
    for row in rows:
        cells = [f"{row['macs'] / 1e6:.1f}", f"{row['limit_ms']:.3f}", f"{row['ms']:.3f}", f"{row['share']:.2f}"]
        lines.append(f"| {row['network']} | {' | '.join(cells)} |")
    for kind in dict.fromkeys(row["class"] for row in rows):
        own = [row for row in rows if row["class"] == kind]
        lines += ["", f"## Largest losses: {kind}", "", "| kernel | of the time | fraction | most in | reason |"]
        lines.append("|---|---|---|---|---|")
        for loss in losses(own):
            share, network = loss["most"]
            fraction = loss["limit_ms"] / loss["ms"] if loss["ms"] else 0.0
            cells = [f"{loss['lost']:.1%}", f"{fraction:.2f}", f"{network} ({share:.0%})"]
            lines.append(f"| `{loss['kernel']}` | {' | '.join(cells)} | {reason(loss['kernel'], reasons)} |")
    return lines


def page(result: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    of, rows = result["machine"], result["results"]
    speeds = sorted(row["gmacs"] for row in rows)
    memory = sorted(row["gb_s"] for row in rows)
    middle = len(rows) // 2
    head = f"""\
# Fraction of the machine's limit

The limit of a node is the greater of two times: its multiply-adds at the speed of a loop of nothing else, and the bytes
of its inputs, constants and outputs at the speed of reading a buffer of that size. The program that measures the nodes
measures both speeds, too. The limit of a network is the sum over its nodes, and the fraction is the limit divided by
the sum of the shortest time of each node in {result["runs"]} runs, fp32, threads: {result["threads"]}. Winograd's
algorithms need fewer multiplications than are counted, so that a fraction can be above 1.

Machine: {of["cpu"]}, {of["cores"]} cores, {of["system"]}; load average {result["load"]:.1f} when the measurement ended.
Median of the speeds: {2 * speeds[middle]:.0f} GFLOP/s, {memory[middle]:.0f} GB/s from memory.
`make bench-limits PAGE=1` repeats the measurement and writes this page; `lathe bench` shows the same for a model.

A loss is what the nodes of a kernel took beyond their limits, as part of the time of a network, averaged over the
networks of a class. "Fraction" is that of the nodes of the kernel. Reasons are written by hand (`limits_reasons.yml`).
"""
    return head + "\n" + "\n".join(tables(rows, reasons)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.limits", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    listed = functools.partial(words.listed, ALL)
    parser.add_argument("--networks", type=listed, default=list(ALL), metavar="A,B", help=", ".join(ALL))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--page", action="store_true", help="write the page in docs/reference too")
    parser.add_argument("--python", help="a Python that has PyTorch, where a network is exported from there")
    options = parser.parse_args()
    reasons: dict[str, str] = yaml.safe_load(REASONS.read_text())
    rows = []
    for network in options.networks:
        sys.stderr.write(f"{network}\n")
        try:
            suite_of(network).make([network], options.python)
            rows.append(of_network(network, measured(network, options.runs, options.threads)))
        except (LatheError, NetworkError) as problem:
            sys.stderr.write(f"{problem}\n")
            return 1
    result = {
        "machine": report.machine(),
        "load": os.getloadavg()[0],
        "runs": options.runs,
        "threads": options.threads,
        "results": rows,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        PAGE.write_text(page(result, reasons))
    sys.stdout.write("\n".join(tables(rows, reasons)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
