"""What `lathe validate --accuracy` measured: as data, and for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.reports.table import Table


@dataclass(frozen=True)
class AccuracyReport:
    """The figures of all scripts: `<folder>/report/accuracy.json` holds the last ones."""

    library: str
    folder: Path
    results: tuple[dict[str, Any], ...]

    @property
    def file(self) -> Path:
        return self.folder / "report" / "accuracy.json"

    @property
    def passed(self) -> bool:
        return all(result["passed"] for result in self.results)

    def text(self) -> str:
        return json.dumps(self.as_json(), indent=2) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "folder": str(self.folder),
            "passed": self.passed,
            "results": list(self.results),
        }


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """A line per figure."""
    figures = ("value", "needed", "samples", "resumed", "workers", "seconds")
    table = Table(["model", "abi", "device", "script", "figure", *figures, "result"], right=frozenset(figures))
    for result in document["results"]:
        for name, value in result["metrics"].items():
            least = result["thresholds"].get(name)
            table.add(
                result["model"],
                result["abi"],
                result["device"],
                result["script"],
                name,
                f"{value:.6g}",
                "" if least is None else f"{least:g}",
                result["samples"],
                result["resumed"],
                result["workers"],
                f"{result['seconds']:.2f}",
                "" if least is None else "passed" if value >= least else "failed",
            )
    return [table]
