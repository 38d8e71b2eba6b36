"""What a build takes: bytes of its libraries by part, and the memory of its models while they run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, LatheError, Where
from buildtool.reports import build, size
from buildtool.reports.documents import BuildReport, read_build
from buildtool.reports.table import Table, byte_count

_MEASURED = ("scratch", "weights_mapped", "weights_allocated")


def of_build(folder: Path) -> dict[str, Any]:
    """The document of a build's folder. ConfigError where the folder is none."""
    built = read_build(folder)
    plans = [(model.name, plan) for model in built.models for plan in model.plans] if built else []
    known = all(isinstance(plan.get(key), int) for _, plan in plans for key in ("arena_size", "lower_bound"))
    if built is None or not known or not all(size.is_whole(item.sizes) for item in built.libraries):
        raise ConfigError(
            "this folder does not contain a build of this version",
            where=Where(file=str(folder)),
            rule="a build leaves report/build.json in its folder",
            remedy="pass a file, or build again: lathe build",
        )
    return {
        "kind": "build",
        "path": str(folder),
        "library": built.library,
        "libraries": [
            {"abi": item.abi, "shared": item.shared, "bytes_stripped": item.bytes_stripped, "sizes": item.sizes}
            for item in built.libraries
        ],
        "firmware": [item.as_json() for item in built.firmware],
        "memory": [{"model": name, "abi": plan["abi"], **_memory(built, name, plan)} for name, plan in plans],
    }


def _memory(built: BuildReport, model: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Bytes while the model runs on one thread. What only its kernels know is asked of the library, where this machine
    can load it, and None elsewhere (`lathe run` asks it in the emulator).
    """
    from buildtool.devices.in_process import load_library

    memory: dict[str, Any] = {"arena": plan["arena_size"], "lower_bound": plan["lower_bound"]}
    memory |= dict.fromkeys(_MEASURED)
    if plan["abi"] == "host" and any(item.abi == "host" for item in built.libraries):
        try:
            with load_library(built.file_of("host", "shared"), model, 1, identifier=built.identifier) as loaded:
                memory |= {key: getattr(loaded.memory, key) for key in _MEASURED}
        except LatheError:  # a library of another machine, or a model that was removed: the plan still tells its part
            pass
    return memory


def sizes_of(library: Path) -> Mapping[str, Any] | None:
    """The sizes of a library that still lies in the folder of its build, as it was built; None for others."""
    folder = library.resolve().parent.parent.parent
    built = read_build(folder)
    for item in built.libraries if built else ():
        same = size.is_whole(item.sizes) and library.stat().st_size == item.sizes["total"]
        if same and folder / item.shared == library.resolve():
            return item.sizes
    return None


def parts(document: Mapping[str, Any], verbose: bool) -> list[str | Table]:
    """The document of a build for people."""
    shown: list[str | Table] = [f"library {document['library']}"]
    for library in document["libraries"]:
        tables = size.tables(library["abi"], library["sizes"])
        shown += tables if verbose else tables[-2:]
    for firmware in document["firmware"]:
        shown += build.firmware_tables(firmware)
    columns = ["model", "abi", "arena", "lower bound", "scratch", "weights (not copied)", "expanded"]
    memory = Table(columns, title="memory of one run, single-threaded", right=frozenset(columns[2:]))
    for row in document["memory"]:
        numbers = (row[key] for key in ("arena", "lower_bound", *_MEASURED))
        memory.add(row["model"], row["abi"], *(byte_count(number) for number in numbers))
    return [*shown, memory]
