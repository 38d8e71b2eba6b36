"""What a run gave, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.reports.table import Table, number


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The tables of the document of `lathe run`."""
    table = Table(
        ["model", "abi", "device", "output", "shape", "least", "largest", "mean"],
        right=frozenset({"least", "largest", "mean"}),
    )
    times = Table(["model", "abi", "threads", "rounds", "milliseconds"], right=frozenset({"rounds", "milliseconds"}))
    for run in document["runs"]:
        for output in run["outputs"]:
            table.add(
                run["model"],
                run["abi"],
                run["device"],
                output["name"],
                "x".join(map(str, output["shape"])),
                *(number(output[key], 5) for key in ("least", "largest", "mean")),
            )
        times.add(run["model"], run["abi"], run["threads"] or "all", run["rounds"], number(run["milliseconds"], 4))
    files = [f"wrote {output['file']}" for run in document["runs"] for output in run["outputs"] if output.get("file")]
    return [table, times, *files]
