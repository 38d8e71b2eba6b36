"""What became of a checkpoint: for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.reports.table import Table


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The layers with their bits and shifts, and where the result is."""
    shown: list[str | Table] = []
    if document["layers"]:
        numbers = ("bits", "factor", "output_shift", "clipped")
        table = Table(
            ["layer", "bits", "factor", "output shift", "clipped"], right=frozenset({*numbers, "output shift"})
        )
        for layer in document["layers"]:
            shift = "" if layer["output_shift"] is None else str(layer["output_shift"])
            clipped = f"{layer['clipped']} of {layer['count']}"
            table.add(layer["name"], str(layer["bits"]), f"{layer['factor']:g}", shift, clipped)
        shown.append(table)
    words = []
    if document["fused"]:
        words.append(f"fused the batch normalisation of {', '.join(document['fused'])}")
    if document["left_out"]:
        words.append(f"removed entries that only programs need: {', '.join(document['left_out'])}")
    return [*shown, "\n".join([*words, f"wrote {document['output']}"])]
