"""What was measured as JSON, as tables for a terminal and as docs/reference/performance.md."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Table = tuple[list[str], list[list[str]]]  # header and rows

#: What geometric means are made of: the title, the key of a row.
QUANTITIES = {"time": "median_ms", "load": "load_first_ms", "memory": "peak_mb", "library": "library_bytes"}


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    model, flags = "unknown", set[str]()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            model = value.strip()
        if key.strip() in ("flags", "Features"):
            flags = set(value.split())
    interesting = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8", "asimddp")
    return {
        "cpu": model,
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "instructions": [flag for flag in interesting if flag in flags],
        "system": f"{platform.system()} {platform.release()}",
    }


def geomeans(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Lathe against the best peer per thread count: the geometric mean over the networks that have both.

    Times are compared round by round (`ratio_to_best_peer`); of the others each is compared with the smallest value
    that any peer has.
    """
    found = []
    for threads in sorted({row["threads"] for row in rows}):
        ratios: dict[str, list[float]] = {quantity: [] for quantity in QUANTITIES}
        for row in rows:
            if row["threads"] != threads or row["engine"] != "lathe":
                continue
            peers = _peers(rows, row)
            if not peers:
                continue
            for quantity, key in QUANTITIES.items():
                best = min(peer[key] for peer in peers)
                ratio = row["ratio_to_best_peer"] if quantity == "time" else row[key] / best if best > 0 else None
                if ratio:
                    ratios[quantity].append(ratio)
        means = {quantity: round(_geomean(values), 3) for quantity, values in ratios.items() if values}
        if means:
            found.append({"threads": threads, "networks": len(ratios["time"]), **means})
    return found


def _peers(rows: Iterable[Row], of: Row) -> list[Row]:
    same = ("network", "dtype", "threads")
    return [row for row in rows if row["engine"] != "lathe" and all(row[key] == of[key] for key in same)]


def _geomean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values))


def tables(result: Mapping[str, Any]) -> dict[str, Table]:
    """Title -> header and rows, the same for a terminal and for the page."""
    rows: Sequence[Row] = result["results"]
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    found: dict[str, Table] = {}
    for threads in sorted({row["threads"] for row in rows}):
        of = [row for row in rows if row["threads"] == threads]
        noun = "thread" if threads == 1 else "threads"
        found[f"Median of an inference, {threads} {noun}, ms"] = _by_network(of, engines, "median_ms", "{:.2f}", True)
        found[f"Load to the end of the first inference, {threads} {noun}, ms"] = _by_network(
            of, engines, "load_first_ms", "{:.0f}"
        )
        found[f"Peak memory, {threads} {noun}, MB"] = _by_network(of, engines, "peak_mb", "{:.1f}")
        own = {row["network"]: row for row in of if row["engine"] == "lathe_fp32"}
        pairs = [(row, own[row["network"]]) for row in of if row["engine"] == "lathe" and row["network"] in own]
        if pairs:
            ratios = [small["median_ms"] / real["median_ms"] for small, real in pairs]
            cells = [[small["network"], f"{ratio:.2f}"] for (small, _), ratio in zip(pairs, ratios, strict=True)]
            title = f"int8 / fp32 of Lathe, {threads} {noun}"
            found[title] = (["network", "ratio"], [*cells, ["geometric mean", f"{_geomean(ratios):.3f}"]])
    least = [row for row in rows if row["threads"] == min(row["threads"] for row in rows)] if rows else []
    megabytes = [{**row, "library_mb": row["library_bytes"] / 1e6} for row in least]
    found["Native libraries that the engine loads, stripped, MB"] = _by_network(
        megabytes, engines, "library_mb", "{:.2f}"
    )
    means = result["geomeans"]
    if means:
        header = ["threads", "networks", *QUANTITIES]
        cells = [[str(mean.get(key, "")) for key in header] for mean in means]
        found["Lathe / best peer, geometric mean (below 1: Lathe is better)"] = (header, cells)
    return found


def _by_network(rows: Sequence[Row], engines: Sequence[str], key: str, form: str, with_ratio: bool = False) -> Table:
    header = ["network", *engines]
    if with_ratio and "lathe" in engines:
        header += ["best peer", "lathe / best"]
    cells = []
    for network in dict.fromkeys(row["network"] for row in rows):
        of = {row["engine"]: row for row in rows if row["network"] == network}
        line = [network, *(form.format(of[name][key]) if name in of else "-" for name in engines)]
        if with_ratio and "lathe" in engines:
            lathe = of.get("lathe")
            ratio = lathe["ratio_to_best_peer"] if lathe else None
            line += [next(iter(of.values()))["best_peer"] or "-", "-" if ratio is None else f"{ratio:.2f}"]
        cells.append(line)
    return header, cells


def show(result: Mapping[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    for title, (header, cells) in tables(result).items():
        table = RichTable(title=title, title_justify="left", box=SIMPLE_HEAD)
        for index, name in enumerate(header):
            table.add_column(name, justify="left" if index == 0 else "right")
        for line in cells:
            table.add_row(*line)
        console.print(table)
    console.print(f"Other programs used {result['others']:.0%} of the machine.", markup=False)
    for engine, reason in result["left_out"].items():
        console.print(f"{engine} was left out: {reason}", markup=False)


_OF_ZOO = (
    "# Performance",
    "",
    "Five networks with an input of 1x3x224x224, {dtype}, all engines in one run: each in its own process, in turn,",
)
_OF_REAL = (
    "# Performance on networks that people run",
    "",
    "Detectors, classifiers, transformers, recurrent networks and others at their usual sizes, with random weights or",
    "those of a package (`tests/bench/real`), {dtype}, all engines in one run: each in its own process, in turn,",
)
_COMMANDS_OF_ZOO = (
    "`make bench-peers` measures your machine; `PAGE=1` writes this page. `make bench-ops FILTER=...` times single",
    "kernels, and `make bench-arm` counts the instructions of an inference on ARM processors, in qemu.",
    "[Networks that people run](performance-networks.md) have a page of their own.",
)
_COMMANDS_OF_REAL = (
    "`make bench-peers SUITE=real` measures your machine; `PAGE=1` writes this page. An engine without a number",
    "cannot convert or run the network, or computes something else.",
    "",
    "![Time of Lathe relative to the best other engine](../images/performance-networks.svg)",
)


def page(result: Mapping[str, Any], suite: str) -> str:
    """The text of docs/reference/performance.md, or of performance-networks.md for the suite `real`."""
    of = result["machine"]
    plan = result["plan"]
    head, commands = (_OF_REAL, _COMMANDS_OF_REAL) if suite == "real" else (_OF_ZOO, _COMMANDS_OF_ZOO)
    lines = [
        *(line.format(dtype=plan["dtype"]) for line in head),
        f"{plan['rounds']} rounds of up to {plan['runs']} inferences each. Ratios compare the minima of the",
        "same round. Every output is first compared with that of onnxruntime (cosine similarity at least 0.9999).",
        "Memory is the peak minus that of the process before it loads the engine; libraries are the files that the",
        "process loads for the engine.",
        "",
        *commands,
        "",
        f"Machine: {of['cpu']}, {of['cores']} cores ({', '.join(of['instructions'])}), {of['system']}.",
        f"Before the rounds other programs used {result['others']:.0%} of it (above a few percent, trust ratios only).",
        "",
        "Engines: " + ", ".join(f"{name} {version}" for name, version in result["engines"].items()) + ".",
    ]
    if result["left_out"] and suite != "real":
        lines += ["", "Left out: " + "; ".join(f"{name}: {why}" for name, why in result["left_out"].items()) + "."]
    for title, (header, cells) in tables(result).items():
        lines += ["", f"## {title}", "", f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        lines += [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join(lines) + "\n"
