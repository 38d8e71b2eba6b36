"""What a validation found, for people: one line per output of each variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.reports import gpu
from buildtool.reports.table import Table, number

_FIGURES = ("cosine", "needed", "SQNR dB", "max diff", "pixels")


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The table of the document of `lathe validate`, and a line that sums it up."""
    ran_on = ["ran on"] if any(result.get("gpu") for result in document["results"]) else []
    columns = ["model", "abi", "kind", "format", "output", *_FIGURES, "reference", *ran_on, "result"]
    table = Table(columns, right=frozenset(_FIGURES))
    for result in document["results"]:
        table.add(
            result["model"],
            result["abi"],
            result["kind"],
            result["format"],
            result["output"],
            f"{result['cosine']:.6f}",
            f"{result['threshold']:g}",
            _decibels(result),
            number(result["max_abs"], 3),
            f"{result['pixel_accuracy']:.4g}",
            result["reference"],
            *(gpu.words(result.get("gpu")) for _ in ran_on),
            "passed" if result["passed"] else "failed",
        )
    problems = [
        f"{result['abi']} {result['kind']} {result['output']}: {result['problem']}"
        for result in document["results"]
        if result.get("problem")
    ]
    failed = sum(not result["passed"] for result in document["results"])
    total = len(document["results"])
    last = f"{total - failed} of {total} passed" if failed else f"all {total} passed"
    return [table, *problems, last]


def _decibels(result: Mapping[str, Any]) -> str:
    """JSON has no infinity: null stands for equal arrays, and for those that could not be compared."""
    return "equal" if result["sqnr"] is None and result["max_abs"] == 0 else number(result["sqnr"], 4)
