"""What costs how many bytes of a library: tables for people, and a page with the parts as areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports import html_page
from buildtool.reports.table import Table, byte_count

GROUPS = {
    "kernels": "kernels",
    "core": "runtime",
    "opencl": "OpenCL",
    "registry": "registry",
    "models": "models",
    "file": "file format",
}
_KINDS = ("code", "constants", "data", "relocations", "rest")


def is_whole(sizes: Any) -> bool:
    """Whether this is the JSON of a SizeReport: reports are read back from files, which may be old or damaged."""
    try:
        numbers = [sizes["total"], *sizes["operators"].values()]
        numbers += [part[key] for part in sizes["parts"] for key in (*_KINDS, "bytes")]
        words = [part[key] for part in sizes["parts"] for key in ("group", "name", "operator")]
    except (AttributeError, KeyError, TypeError):
        return False
    return all(isinstance(number, int) for number in numbers) and all(isinstance(word, str) for word in words)


def tables(abi: str, sizes: Mapping[str, Any]) -> list[str | Table]:
    """The parts of one library; `sizes` is the JSON of a SizeReport. The last table sums up."""
    shown: list[str | Table] = []
    for group, title in GROUPS.items():
        parts = [part for part in sizes["parts"] if part["group"] == group]
        if parts:
            shown.append(_parts(f"{abi}: {title}", parts))
    operators = Table(["operator", "bytes"], title=f"{abi}: operators", right=frozenset({"bytes"}))
    for name, count in sizes["operators"].items():
        operators.add(name, byte_count(count))
    total = Table(["", "bytes", "%"], title=f"{abi}: the whole file", right=frozenset({"bytes", "%"}))
    for group, title in GROUPS.items():
        count = sum(part["bytes"] for part in sizes["parts"] if part["group"] == group)
        if count:
            total.add(title, byte_count(count), f"{100 * count / max(1, sizes['total']):.1f}")
    total.add("total", byte_count(sizes["total"]), "100.0")
    return [*shown, operators, total]


def _parts(title: str, parts: Sequence[Mapping[str, Any]]) -> Table:
    kinds = [kind for kind in _KINDS if any(part[kind] for part in parts)]
    table = Table(["", *kinds, "bytes"], title=title, right=frozenset({*kinds, "bytes"}))
    for part in parts:
        table.add(part["name"], *(byte_count(part[kind]) for kind in kinds), byte_count(part["bytes"]))
    return table


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> Table:
    """What grew and what shrank between two maps of names to bytes; the largest change first."""
    table = Table(["", "before", "after", "difference"], right=frozenset({"before", "after", "difference"}))
    changes = {name: after.get(name, 0) - before.get(name, 0) for name in (*before, *after)}
    for name, change in sorted(changes.items(), key=lambda item: (-abs(item[1]), item[0])):
        if change:
            table.add(name, byte_count(before.get(name, 0)), byte_count(after.get(name, 0)), f"{change:+,}")
    return table


def page(library: str, version: str, sizes: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The page of a library; `sizes`: the JSON of a SizeReport by ABI."""
    data = {
        "name": library,
        "version": version,
        "groups": GROUPS,
        "kinds": _KINDS,
        "libraries": [{"abi": abi, "total": entry["total"], "parts": entry["parts"]} for abi, entry in sizes.items()],
    }
    return html_page.render("size_page", library, data)
