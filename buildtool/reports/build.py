"""What a build made, for people: one line per ABI, one per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports import placement, size
from buildtool.reports.table import Table, byte_count


def parts(document: Mapping[str, Any], *, verbose: bool = False) -> list[str | Table]:
    """The tables of `report/build.json`."""
    shown: list[str | Table] = [_models(document["models"])]
    if document["libraries"]:
        shown.append(_libraries(document["libraries"]))
    shown += placement.tables(document["models"], verbose=verbose)
    for firmware in document.get("firmware", ()):
        shown += firmware_tables(firmware)
    if verbose:
        for library in document["libraries"]:
            shown += size.tables(library["abi"], library["sizes"])
    for file in document.get("emitted", ()):
        shown.append(f"wrote {file}")
    shown.append(_last_line(document))
    return shown


def _models(models: Sequence[Mapping[str, Any]]) -> Table:
    planned = any(model["plans"] for model in models)  # firmware has layers, and a report of its own on memory
    columns = ["source nodes", "nodes" if planned else "layers", "weights", *(["arena"] if planned else [])]
    table = Table(["model", "platform", *columns], right=frozenset(columns))
    for model in models:
        arenas = {plan["arena_size"] for plan in model["plans"]}
        sizes = [", ".join(byte_count(size) for size in sorted(arenas))] if planned else []
        counts = (model["source_nodes"], model["nodes"], byte_count(model["data_bytes"]))
        table.add(model["name"], model["platform"], *counts, *sizes)
    return table


def firmware_tables(firmware: Mapping[str, Any]) -> list[str | Table]:
    """What was made for one chip."""
    return [_firmware(firmware), _images(firmware), _flash(firmware)]


def _firmware(firmware: Mapping[str, Any]) -> Table:
    words = list(dict.fromkeys(figure["words"] for model in firmware["models"] for figure in model["figures"]))
    table = Table([firmware["abi"], *words], right=frozenset(words))
    for model in firmware["models"]:
        found = {figure["words"]: _figure(figure["value"], figure["unit"]) for figure in model["figures"]}
        table.add(model["name"], *(found.get(word, "") for word in words))
    return table


def _figure(value: Any, unit: str) -> str:
    if unit == "bytes":
        return byte_count(value)
    if unit == "share":
        return f"{value:.1%}"
    return f"{value:.2f} steps" if unit == "steps" else str(value)


def _images(firmware: Mapping[str, Any]) -> Table:
    """What goes to the chip, or stands beside that; sources are not listed."""
    table = Table([f"lib/{firmware['abi']}", "bytes", "in memory"], right=frozenset({"bytes", "in memory"}))
    for path, count in firmware["files"].items():
        memory = firmware["images"].get(path)
        if path.count("/") == 2:
            table.add(path.rpartition("/")[2], byte_count(count), "" if memory is None else byte_count(memory))
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


def _flash(firmware: Mapping[str, Any]) -> Table:
    table = Table(["flash memory", "address", "bytes"], right=frozenset({"address", "bytes"}))
    for part in firmware["flash"]:
        table.add(part["name"], f"{part['address']:#x}", byte_count(part["bytes"]))
    return table


def _last_line(document: Mapping[str, Any]) -> str:
    what = document["archive"] or document["folder"]
    return f"{document['library']}: {what} in {document['seconds']:.1f} s"
