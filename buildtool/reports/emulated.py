"""What models executed on emulated boards, and the memory that they use: for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports.table import Table

_FIGURES = {
    "instructions": "instructions",
    "nanoseconds": "ns",
    "arena_bytes": "RAM",
    "stack_bytes": "stack",
    "code_bytes": "code",
    "constant_bytes": "constants",
}


def parts(runs: Sequence[Mapping[str, Any]]) -> list[str | Table]:
    """A line for each run, and what the figures are."""
    known = [key for key in _FIGURES if any(key in run for run in runs)]
    columns = ["model", "abi", "device", *(_FIGURES[key] for key in known)]
    table = Table(columns, right=frozenset(columns[3:]))
    for run in runs:
        table.add(run["model"], run["abi"], run["device"], *(f"{run[key]:,}" if key in run else "-" for key in known))
    words = "instructions of one run, and bytes; an emulator's time does not represent any processor"
    return [table, words if "instructions" in known else "time of one run on this machine, and bytes"]
