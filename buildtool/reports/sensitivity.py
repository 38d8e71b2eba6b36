"""What `lathe quantize --sensitivity` found: as data, for people, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.builders import package
from buildtool.quant.histogram import Histogram
from buildtool.reports import html_page
from buildtool.reports.table import Table
from buildtool.settings import Budget

_BARS = 48
_SHOWN = 20  # layers of the table


@dataclass(frozen=True)
class LayerReport:
    """One layer that is stored."""

    name: str
    op: str
    alone: float  # decibels at the outputs, where nothing else is stored
    here: float  # decibels at its own result, where everything is
    ends: tuple[float, float]  # what its result is stored between
    seen: tuple[float, float]
    clipped: float  # share of its numbers outside
    histogram: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "op": self.op,
            "alone_db": round(self.alone, 2),
            "here_db": round(self.here, 2),
            "range": [_short(end) for end in self.ends],
            "seen": [_short(end) for end in self.seen],
            "clipped": self.clipped,
            "histogram": dict(self.histogram),
        }


@dataclass(frozen=True)
class SensitivityReport:
    """All layers, the most harmful first, and those that are best left real."""

    model: str
    samples: int
    layers: tuple[LayerReport, ...]
    decibels: float  # at the outputs, where everything is stored
    budget: Budget
    keep_float: tuple[str, ...]
    already: tuple[str, ...]  # what the deployment keeps
    decibels_with: float  # with the proposal
    accuracy: tuple[float, ...]  # real, stored, with the proposal; where it was measured
    page: Path
    seconds: float

    def as_json(self) -> dict[str, Any]:
        names = ("float", "stored", "proposed")
        return {
            "model": self.model,
            "samples": self.samples,
            "seconds": round(self.seconds, 3),
            "page": str(self.page),
            "output_db": round(self.decibels, 2),
            "budget": {"db": self.budget.decibels, "points": self.budget.points},
            "keep_float": [*self.already, *self.keep_float],
            "proposed": list(self.keep_float),
            "output_db_proposed": round(self.decibels_with, 2),
            "accuracy": dict(zip(names, self.accuracy, strict=False)),
            "layers": [layer.as_json() for layer in self.layers],
        }


def bars(numbers: Histogram, ends: tuple[float, float]) -> dict[str, Any]:
    """The counts in few bars, from the least to the largest number or end of the range."""
    low = min(numbers.low, max(ends[0], -1e30))
    high = max(numbers.high, min(ends[1], 1e30))
    if not low < high:
        return {"low": _short(low), "high": _short(low), "counts": [numbers.total]}
    middles = (numbers.edges[:-1] + numbers.edges[1:]) / 2
    counts, _ = np.histogram(np.clip(middles, low, high), bins=_BARS, range=(low, high), weights=numbers.counts)
    return {"low": _short(low), "high": _short(high), "counts": [int(count) for count in counts]}


def write(report: SensitivityReport) -> None:
    """The page."""
    data = report.as_json()
    del data["page"], data["seconds"]  # equal measurements give equal pages
    package.write_file(report.page, html_page.render("sensitivity_page", report.model, data))


def parts(found: Mapping[str, Any]) -> list[str | Table]:
    """The layers that do most harm, and what to write into the deployment."""
    right = frozenset({"alone (dB)", "in place (dB)", "low", "high", "cut off"})
    table = Table(["layer", "operator", "alone (dB)", "in place (dB)", "low", "high", "cut off"], right=right)
    for layer in found["layers"][:_SHOWN]:
        low, high = layer["range"]
        table.add(
            layer["name"],
            layer["op"],
            f"{layer['alone_db']:.1f}",
            f"{layer['here_db']:.1f}",
            f"{low:.4g}",
            f"{high:.4g}",
            f"{layer['clipped']:.3%}",
        )
    left = len(found["layers"]) - len(table.rows)
    more = [f"and {left} with a smaller effect" if left > 1 else "and one with a smaller effect"] if left else []
    return [table, *more, "\n".join(_words(found)), *_keys(found)]


def _words(found: Mapping[str, Any]) -> list[str]:
    accuracy = found["accuracy"]
    outputs = f"{found['output_db']:.1f} dB at the outputs, of {found['samples']} samples"
    text = [f"{found['model']} with all of them quantised: {outputs}"]
    if accuracy:
        text.append(f"accuracy: {accuracy['float']:.4f} in single precision, {accuracy['stored']:.4f} stored")
    if found["proposed"]:
        with_ = f", accuracy {accuracy['proposed']:.4f}" if accuracy else ""
        count = len(found["proposed"])
        layers = "one layer" if count == 1 else f"{count} layers"
        text.append(f"with {layers} in single precision: {found['output_db_proposed']:.1f} dB{with_}")
    elif found["budget"]["db"] is not None or found["budget"]["points"] is not None:
        text.append("within the budget: no layer has to stay in single precision")
    text.append(f"histograms: {found['page']}")
    return text


def _keys(found: Mapping[str, Any]) -> Sequence[str]:
    if not found["proposed"]:
        return []
    return ["Add to the model in the deployment file:", f"    quantize_keep_float: [{_listed(found['keep_float'])}]"]


def _listed(names: Sequence[str]) -> str:
    """Names as YAML reads them back."""
    plain = all(name.replace("_", "").isalnum() and not name[0].isdigit() for name in names)
    return ", ".join(names if plain else (f'"{name}"' for name in names))


def _short(number: float) -> float:
    return float(f"{number:.7g}")
