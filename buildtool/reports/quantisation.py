"""What `lathe quantize` and `lathe quantize-stat` found: as data, and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.reports.table import Table

_SHOWN = 12  # tensors of the table


@dataclass(frozen=True)
class RangesReport:
    """The ranges of a model's tensors, and the file that holds them."""

    file: Path
    ranges: Mapping[str, tuple[float, float]]
    estimator: str
    samples: int
    model: str = ""
    resumed: int = 0  # samples that an earlier run saw
    workers: int = 1
    seconds: float = 0.0
    peak_bytes: int = 0  # of the largest process

    def as_json(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "model": self.model,
            "estimator": self.estimator,
            "samples": self.samples,
            "resumed": self.resumed,
            "workers": self.workers,
            "seconds": round(self.seconds, 3),
            "peak_bytes": self.peak_bytes,
            "ranges": {name: list(ends) for name, ends in self.ranges.items()},
        }


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The widest ranges, and where all of them are."""
    ranges: Mapping[str, tuple[float, float]] = document["ranges"]
    table = Table(["tensor", "low", "high"], right=frozenset({"low", "high"}))
    widest = sorted(ranges.items(), key=lambda item: item[1][0] - item[1][1])
    for name, (low, high) in widest[:_SHOWN]:
        table.add(name, f"{low:.6g}", f"{high:.6g}")
    left = len(ranges) - len(table.rows)
    words = [f"{len(ranges)} ranges of {document['samples']} samples by {document['estimator']} in {document['file']}"]
    if document["seconds"]:
        resumed = f", {document['resumed']} of them by an earlier run" if document["resumed"] else ""
        megabytes = document["peak_bytes"] / 2**20
        words.append(f"{document['seconds']:.2f} s{resumed}; {megabytes:.0f} MiB at the peak of a process")
    return [table, *([f"{left} with narrower ranges"] if left else []), "\n".join(words)]
