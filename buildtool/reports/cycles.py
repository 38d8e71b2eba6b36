"""How long each layer of an accelerator takes: for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.reports.table import Table


def powered(document: Mapping[str, Any], always: float, each: float) -> dict[str, Any]:
    """An estimate with the energy that follows from watts: always while layers work, and for each processor of them."""
    layers = [
        {**layer, "joules": (always + each * layer["processors"]) * layer["cycles"] / document["hertz"]}
        for layer in document["layers"]
    ]
    return {**document, "joules": sum(layer["joules"] for layer in layers), "layers": layers}


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """A line for each layer, and the sum. `document`: of an estimate, with the joules where the power is known."""
    columns = ["layer", "cycles", "time", "MACs", "processors", "busy"]
    knows_energy = "joules" in document
    if knows_energy:
        columns.append("energy")
    table = Table(columns, right=frozenset(columns[1:]))
    for layer in document["layers"]:
        cells = [
            f"{layer['layer']} {layer['name']}".strip(),
            f"{'about ' if layer['rough'] else ''}{layer['cycles']:,}",
            _time(layer["cycles"] / document["hertz"]),
            f"{layer['macs']:,}",
            layer["processors"],
            f"{100 * layer['busy']:.1f} %",
        ]
        table.add(*cells, *([_energy(layer["joules"])] if knows_energy else []))
    about = "about " if document["rough"] else ""
    words = (
        f"{about}{document['cycles']:,} cycles, {_time(document['seconds'])} at {document['hertz'] / 1e6:g} MHz, "
        f"{document['macs']:,} multiply-accumulates"
    )
    energy = _energy(document["joules"]) if knows_energy else "energy unknown: no power was given"
    return [table, f"{words}, {energy}"]


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def _energy(joules: float) -> str:
    return f"{joules * 1e6:.2f} uJ"
