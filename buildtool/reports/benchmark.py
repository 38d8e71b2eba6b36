"""What `lathe bench` measured: `report/benchmark.json`, and the sections that MACE's benchmark shows as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, Where
from buildtool.reports import cycles, emulated, gpu
from buildtool.reports.table import Table, byte_count, number

_SLOWEST = 10  # nodes that are shown by computation time
_CHANGED = 10  # nodes that are shown of a comparison
_RUN = ("round", "first", "curr", "min", "max", "avg", "std")
FILE = Path("report/benchmark.json")
#: Columns of nodes that narrow terminals do without, in this order.
_WIDE = (
    *("stride", "pad", "dilation", "filter", "output", "cdf%", "std", "first", "start", "GB/s", "limit", "of peak"),
)


@dataclass(frozen=True)
class BenchReport:
    """What was measured, and compared."""

    library: str
    folder: Path
    measurements: tuple[Mapping[str, Any], ...]
    compared: tuple[Mapping[str, Any], ...] = ()  # with an earlier result
    against: tuple[Mapping[str, Any], ...] = ()  # with another library
    operators: tuple[Mapping[str, Any], ...] = ()  # each alone, instead of whole models
    estimates: tuple[Mapping[str, Any], ...] = ()  # of chips that are simulated: by layer
    emulated: tuple[Mapping[str, Any], ...] = ()  # of chips that are emulated: instructions and bytes

    @property
    def file(self) -> Path:
        """Where the last benchmark of a build is kept."""
        return self.folder / FILE

    def text(self) -> str:
        return json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "folder": str(self.folder),
            "file": str(self.file),
            "measurements": list(self.measurements),
            "compared": list(self.compared),
            "against": list(self.against),
            "operators": list(self.operators),
            "estimates": list(self.estimates),
            "emulated": list(self.emulated),
        }


def read_document(file: Path) -> dict[str, Any]:
    """An earlier result: what `--json` printed, or `report/benchmark.json`. ConfigError where it is none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        measurements = document["measurements"]
        whole = all(
            item["nodes"] and ("instructions" in item or item["plain"]["median_interval"]) for item in measurements
        )
    except OSError as problem:
        raise ConfigError(f"the file cannot be read: {problem.strerror}", where=Where(file=str(file))) from problem
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise ConfigError(
            "this is not a result of lathe bench",
            where=Where(file=str(file)),
            rule="--compare takes the output of --json",
        )
    found: dict[str, Any] = document
    return found


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The tables of the document of `lathe bench`."""
    shown: list[str | Table] = []
    for item in document["measurements"]:
        shown.append(f"== {item['model']} on {item['abi']}, {item['device']}, {_threads(item['threads'])} ==")
        if item["note"]:
            shown.append(f"note: {item['note']}")
        if reason := item.get("gpu", {}).get("reason"):
            shown.append(f"note: the CPU ran device regions: {reason}")
        shown += _sections(item) if item["unit"] == "seconds" else _counted(item)
    if document["operators"]:
        shown += _single(document["operators"])
    for item in document["estimates"]:
        shown += [f"== {item['model']} on the {item['abi']}, estimated ==", *cycles.parts(item["estimate"])]
    if document.get("emulated"):
        shown += emulated.parts(document["emulated"])
    if document["compared"]:
        shown += _compared(document["compared"])
    if document["against"]:
        shown += _against(document["against"])
    if document["measurements"]:
        shown.append(f"wrote {document['file']} and {Path(document['folder']) / 'report' / 'index.html'}")
    return shown


def _ms(value: float) -> str:
    """Three decimals, as MACE has them; more of what is small."""
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.6f}"


def _threads(count: int) -> str:
    return "all cores" if count < 1 else "1 thread" if count == 1 else f"{count} threads"


def _sections(item: Mapping[str, Any]) -> list[str | Table]:
    """The eight of MACE, in its order, and what it does not know behind each."""
    nodes = item["nodes"]
    slowest = sorted(nodes, key=lambda node: -node["avg_ms"])[:_SLOWEST]
    return [
        *([_run("Warm Up", item["warmup"])] if item["warmup"] else []),
        _run("Run without statistics", item["plain"]),
        _spread(item["plain"]),
        _run("Run with statistics", item["observed"]),
        _nodes("Sort by Run Order", nodes, cumulative=True),
        _nodes("Sort by Computation Time", slowest, cumulative=False),
        _by_operator(item["operators"]),
        _by_macs(item["macs"]),
        _summary(item),
    ]


def _run(title: str, figures: Mapping[str, Any]) -> Table:
    table = Table([*_RUN[:1], *(f"{key}(ms)" for key in _RUN[1:])], title=title)
    table.right = frozenset(table.columns)
    table.add(figures["round"], *(_ms(figures[key]) for key in _RUN[1:]))
    return table


def _spread(figures: Mapping[str, Any]) -> Table:
    percentiles = figures["percentiles"]
    low, high = figures["median_interval"]
    confidence = f"median between, {figures['confidence']:.1%}"
    columns = [f"p{percent}" for percent in percentiles]
    table = Table(
        ["median(ms)", *columns, "variance", confidence], right=frozenset(["median(ms)", *columns, "variance"])
    )
    table.add(
        _ms(figures["median"]),
        *(_ms(value) for value in percentiles.values()),
        number(figures["variance"], 3),
        f"{_ms(low)} .. {_ms(high)}",
    )
    return table


def _nodes(title: str, nodes: Sequence[Mapping[str, Any]], *, cumulative: bool) -> Table:
    numbers = ["start", "first", "avg(ms)", "std", "%", "cdf%", "GMACPS", "GB/s", "of peak"]
    words = ["limit", "stride", "pad", "filter", "output", "dilation", "name", "kernel"]
    table = Table(["op type", *numbers, *words], title=title, right=frozenset(numbers), optional=_WIDE)
    so_far = 0.0
    for node in nodes:
        so_far += node["percent"]
        table.add(
            node["op"],
            *(_ms(node[key]) for key in ("start_ms", "first_ms", "avg_ms", "std_ms")),
            f"{node['percent']:.2f}",
            f"{node['cumulative'] if cumulative else so_far:.2f}",
            f"{node['gmacs']:.2f}",
            f"{node['gb_s']:.2f}",
            _percent(node["share_of_peak"]),
            node["limit"],
            *(_list(node[key]) for key in ("stride", "pad", "filter", "output", "dilation")),
            node["name"],
            node["kernel"],
        )
    return table


def _list(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _by_operator(operators: Sequence[Mapping[str, Any]]) -> Table:
    numbers = ["count", "avg(ms)", "%", "cdf%", "MACs", "GMACPS", "called times"]
    table = Table(["op type", *numbers], title="Stat by Op Type", right=frozenset(numbers))
    for entry in operators:
        table.add(
            entry["op"],
            entry["count"],
            _ms(entry["avg_ms"]),
            f"{entry['percent']:.2f}",
            f"{entry['cumulative']:.2f}",
            byte_count(entry["macs"]),
            f"{entry['gmacs']:.2f}",
            entry["called"],
        )
    return table


def _by_macs(macs: Mapping[str, Any]) -> Table:
    columns = ["total", "round", "first(G/s)", "avg(G/s)"]
    table = Table(columns, title="Stat by MACs (Multiply-Accumulation)", right=frozenset(columns))
    table.add(byte_count(macs["total"]), macs["round"], f"{macs['first']:.3f}", f"{macs['avg']:.3f}")
    return table


def _summary(item: Mapping[str, Any]) -> Table:
    table = Table(["what", "value"], title="Summary of Ops' Stat", right=frozenset({"value"}))
    observed, plain = item["observed"], item["plain"]
    for key in ("round", "first", "curr", "min", "max", "avg", "std"):
        table.add(key if key == "round" else f"{key} (ms)", observed[key] if key == "round" else _ms(observed[key]))
    table.add("statistics cost", f"{observed['median'] / plain['median'] - 1:+.1%}")
    table.add("until ready (ms)", _ms(item["create_ms"]))
    for what, value in _gpu(item.get("gpu")):
        table.add(what, value)
    table.add("arena", byte_count(item["memory"].get("arena")))
    table.add("of the processor's peak", _percent(item["share_of_peak"]) or "unknown")
    for name, value in item["energy"].get("millijoules_a_run", {}).items():
        table.add(f"energy of {name} a run (mJ)", number(value, 4))
    if not item["energy"]["known"]:
        table.add("energy", "not counted on this device")
    return table


def _gpu(known: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What is known of a GPU that ran the model."""
    if not known:
        return []
    rows = [("ran on", gpu.words(known))]
    if known["kind"] == "cpu":
        return rows
    if known["kind"] == "dsp":
        return [*rows, ("memory of the DSP", byte_count(known["bytes"]))]
    programs = f"{known['programs_built']} built, {known['programs_loaded']} loaded"
    return [*rows, ("programs of the GPU", programs), ("for them (ms)", _ms(known["programs_us"] / 1e3)),
            ("memory of the GPU", byte_count(known["bytes"]))]  # fmt: skip


def _counted(item: Mapping[str, Any]) -> list[str | Table]:
    numbers = ["instructions", "%", "cdf%", "accesses", "MACs", "bound", "ratio"]
    table = Table(["op type", *numbers, "name", "kernel"], title="Sort by Run Order", right=frozenset(numbers))
    table.optional = ("ratio", "bound", "cdf%", "accesses")
    for node in item["nodes"]:
        table.add(node["op"], *_counts(node), node["name"], node["kernel"])
    by_operator = Table(
        ["op type", "count", *numbers[:3]], title="Stat by Op Type", right=frozenset(["count", *numbers])
    )
    for entry in item["operators"]:
        by_operator.add(
            entry["op"],
            entry["count"],
            byte_count(entry["instructions"]),
            f"{entry['percent']:.2f}",
            f"{entry['cumulative']:.2f}",
        )
    summary = Table(["what", "value"], title="Summary", right=frozenset({"value"}))
    for what, value in _gpu(item.get("gpu")):
        summary.add(what, value)
    summary.add("instructions", byte_count(item["instructions"]))
    summary.add("memory accesses", byte_count(item["accesses"]))
    summary.add("MACs", byte_count(item["macs"]["total"]))
    summary.add("multiply instructions at least", byte_count(item["bound"]))
    summary.add("ratio", number(item["ratio"], 3))
    return [table, by_operator, summary]


def _counts(node: Mapping[str, Any]) -> list[str]:
    instructions, accesses, bound, ratio = _counted_row(node)
    shares = (f"{node[key]:.2f}" for key in ("percent", "cumulative"))
    return [instructions, *shares, accesses, byte_count(node["macs"]), bound, ratio]


def _single(operators: Sequence[Mapping[str, Any]]) -> list[str | Table]:
    shown: list[str | Table] = []
    for group in operators:
        counted = group["unit"] == "instructions"
        numbers = ["instructions", "accesses", "bound", "ratio"] if counted else ["time(ns)", "min(ns)", "iterations"]
        numbers += [] if counted else ["input(MB/s)", "GMACPS"]
        title = f"{group['model']} on {group['abi']}, {group['device']}"
        table = Table(["benchmark", *numbers], title=title, right=frozenset(numbers))
        for row in group["results"]:
            table.add(row["name"], *(_counted_row(row) if counted else _timed_row(row)))
        shown += [f"note: {group['note']}", table] if group["note"] else [table]
    return shown


def _counted_row(row: Mapping[str, Any]) -> list[str]:
    ratio = row["instructions"] / row["bound"] if row["bound"] else None
    return [*(byte_count(row[key]) for key in ("instructions", "accesses", "bound")), number(ratio, 3)]


def _timed_row(row: Mapping[str, Any]) -> list[str]:
    median = max(1, row["median_ns"])
    speeds = (f"{row['input_bytes'] / median * 1e3:.1f}", f"{row['macs'] / median:.2f}")
    return [byte_count(row["median_ns"]), byte_count(row["min_ns"]), byte_count(row["iterations"]), *speeds]


def _compared(entries: Sequence[Mapping[str, Any]]) -> list[str | Table]:
    columns = ["before", "now", "ratio", "interval"]
    table = Table(
        ["model", "abi", "device", *columns, "verdict"], title="Compared with the earlier run", right=frozenset(columns)
    )
    shown: list[str | Table] = [table]
    for entry in entries:
        where = (entry["model"], entry["abi"], entry["device"])
        if not entry["found"]:
            table.add(*where, "", "", "", "", "not in the earlier run")
            continue
        figures = (_amount(entry, entry["before"]), _amount(entry, entry["after"]), f"{entry['ratio']:.3f}")
        table.add(*where, *figures, _interval(entry), entry["verdict"])
        changed = [node for node in entry["nodes"] if node["difference"]][:_CHANGED]
        nodes = Table(
            ["op type", "before", "now", "difference", "name"],
            title=f"{entry['model']} on {entry['abi']}: the nodes that changed most",
            right=frozenset({"before", "now", "difference"}),
        )
        for node in changed:
            amounts = (_amount(entry, node[key]) for key in ("before", "after", "difference"))
            nodes.add(node["op"], *amounts, node["name"])
        shown.append(nodes)
    if any(entry["found"] and entry["unit"] == "seconds" for entry in entries):
        shown.append(
            "note: the speed of the machine may differ between the runs; --against measures two libraries alternately"
        )
    return shown


def _against(entries: Sequence[Mapping[str, Any]]) -> list[str | Table]:
    columns = ["this", "other", "ratio", "interval"]
    table = Table(["model", "abi", "device", *columns, "this one is"], title="Side by side", right=frozenset(columns))
    for entry in entries:
        own, other = entry["own"], entry["other_figures"]
        if entry["unit"] == "seconds":
            own, other = own["median"], other["median"]
        amounts = (_amount(entry, own), _amount(entry, other), f"{entry['ratio']:.3f}")
        table.add(entry["model"], entry["abi"], entry["device"], *amounts, _interval(entry), entry["verdict"])
    return [table]


def _amount(entry: Mapping[str, Any], value: float) -> str:
    return f"{_ms(value)} ms" if entry["unit"] == "seconds" else f"{round(value):,} instructions"


def _interval(entry: Mapping[str, Any]) -> str:
    if "interval" not in entry:
        return "exact"
    low, high = entry["interval"]
    return f"{low:.3f} .. {high:.3f}"
