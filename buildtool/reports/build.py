"""What a build made, for people: one line per ABI, one per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports import size
from buildtool.reports.table import Table, byte_count


def parts(document: Mapping[str, Any], *, verbose: bool = False) -> list[str | Table]:
    """The tables of `report/build.json`."""
    shown: list[str | Table] = [_models(document["models"])]
    if document["libraries"]:
        shown.append(_libraries(document["libraries"]))
    if verbose:
        for library in document["libraries"]:
            shown += size.tables(library["abi"], library["sizes"])
    for file in document.get("emitted", ()):
        shown.append(f"wrote {file}")
    shown.append(_last_line(document))
    return shown


def _models(models: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        ["model", "platform", "source nodes", "nodes", "weights", "arena"],
        right=frozenset({"source nodes", "nodes", "weights", "arena"}),
    )
    for model in models:
        arenas = {plan["arena_size"] for plan in model["plans"]}
        table.add(
            model["name"],
            model["platform"],
            model["source_nodes"],
            model["nodes"],
            byte_count(model["data_bytes"]),
            ", ".join(byte_count(size) for size in sorted(arenas)),
        )
    return table


def _libraries(libraries: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        ["abi", ".so stripped", ".a", "kernels", "compiled", "reused", "seconds", "needs", "glibc"],
        right=frozenset({".so stripped", ".a", "kernels", "compiled", "reused", "seconds"}),
    )
    for library in libraries:
        table.add(
            library["abi"],
            byte_count(library["bytes_stripped"]),
            byte_count(library["bytes_static"]),
            len(library["kernels"]),
            library["compiled"],
            library["reused"],
            f"{library['seconds']:.2f}",
            ", ".join(library["needed"]),
            library["glibc"],
        )
    return table


def _last_line(document: Mapping[str, Any]) -> str:
    what = document["archive"] or document["folder"]
    return f"{document['library']}: {what} in {document['seconds']:.1f} s"
