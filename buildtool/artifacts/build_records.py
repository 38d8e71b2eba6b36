"""What builds and checks have read and written, so that the next one sees at once that nothing has changed.

A record holds the state of each file (size, times, inode) and the checksum of each input: a file with the same state is
the same, and one with another state may still have the same content. This module is imported before anything is
known of a deployment, and imports nothing that is slow to load.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import buildtool
from buildtool import resources
from buildtool.artifacts import depfile
from buildtool.digests import sha256_of
from buildtool.errors import Problem, Where

State: TypeAlias = list[int]

#: Variables that say how to compile, beside all that start with LATHE_.
_VARIABLES = frozenset(
    {
        *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "PATH"),
        *("ANDROID_HOME", "ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "JAVA_HOME"),
        *("CMAKE_CXX_COMPILER_LAUNCHER", "SOURCE_DATE_EPOCH"),
    }
)
_ALWAYS = ("report/build.json", "report/tuning.json")
_PIECE = 2**20  # bytes
_TICK = 50_000_000  # nanoseconds; file systems take the time from a clock that may lag behind


def name_of(command: str, file: Path, overrides: object, options: object) -> str:
    """The name of the record of a command: everything that the command line and the environment say about it."""
    variables = sorted(
        (name, value) for name, value in os.environ.items() if name in _VARIABLES or name.startswith("LATHE_")
    )
    said = [
        command,
        buildtool.version(),
        sys.version,
        str(Path.cwd()),
        str(file.absolute()),
        repr(overrides),
        _sorted(options),
    ]
    return hashlib.sha256(json.dumps([said, variables]).encode()).hexdigest()


def _sorted(options: object) -> list[str]:
    """The fields of an object as words; sets have no order that lasts."""
    return [
        f"{name}={sorted(value) if isinstance(value, frozenset) else value!r}" for name, value in vars(options).items()
    ]


def write(
    name: str,
    began: int,
    inputs: Iterable[Path],
    tools: Iterable[Path],
    report: Mapping[str, Any],
    notes: Iterable[Problem],
) -> None:
    """Remember a command that began at a time (in nanoseconds); `tools`: compilers and what comes with them.

    Nothing is remembered where one of the files has changed meanwhile, or cannot be read.
    """
    with contextlib.suppress(OSError):
        read = [str(path) for path in dict.fromkeys(inputs)]
        states = {path: _state(path) for path in (*read, *_surroundings(), *map(str, tools))}
        if any(max(state[1], state[3]) > began - _TICK for path, state in states.items() if not Path(path).is_dir()):
            return
        record = {
            "states": states,
            "checksums": {path: sha256_of(Path(path)) for path in read if not Path(path).is_dir()},
            "outputs": {path: _state(path) for path in _outputs(report)},
            "report": dict(report),
            "notes": [note.as_json() for note in notes],
        }
        target = _file(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        _put(target, record)


def unchanged(name: str) -> tuple[dict[str, Any], list[Problem]] | None:
    """The report and the notes of the last command of this name, if one now would do the same; else None."""
    try:
        record = json.loads(_file(name).read_text(encoding="utf-8"))
        report: dict[str, Any] = record["report"]
        outputs: dict[str, State] = record["outputs"]
        if set(_outputs(report)) != set(outputs):
            return None
        if any(_state(path) != state for path, state in outputs.items()):
            return None
        moved = {path: now for path, state in record["states"].items() if (now := _state(path)) != state}
        if moved and not _same_content(moved, record):
            return None
        if moved:
            _put(_file(name), {**record, "states": {**record["states"], **moved}})
        else:
            os.utime(_file(name))
        return report, [_problem(note) for note in record["notes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def inputs(name: str) -> tuple[Path, ...]:
    """The files that the last build of this name has read."""
    try:
        return tuple(Path(path) for path in json.loads(_file(name).read_text(encoding="utf-8"))["checksums"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _same_content(moved: Mapping[str, State], record: Mapping[str, Any]) -> bool:
    checksums = record["checksums"]
    return all(path in checksums and checksums[path] == sha256_of(Path(path)) for path in moved)


def _surroundings() -> Iterable[str]:
    """The installation: in a source tree its files, and the folders in which packages are installed."""
    if resources.in_source_tree():
        yield from map(str, depfile.files_of_lathe())
    yield from (path for path in sys.path if path.endswith("-packages") and Path(path).is_dir())


def _outputs(report: Mapping[str, Any]) -> list[str]:
    """What a build has written. What other commands add to `report` is none of it."""
    if "folder" not in report:
        return []
    folder, asked = Path(report["folder"]), set(report["emitted"])
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if (not name.startswith("report/") or name in _ALWAYS or str(path) in asked) and path.is_file():
            found.append(str(path))
    return found


def _problem(note: Mapping[str, Any]) -> Problem:
    return Problem(**{**note, "where": Where(**note.get("where", {}))})


def _file(name: str) -> Path:
    return resources.cache_dir() / "builds" / name


def _put(target: Path, record: Mapping[str, Any]) -> None:
    aside = target.with_name(f".{target.name}-{os.getpid()}")
    aside.write_text(json.dumps(record), encoding="utf-8")
    aside.replace(target)


def _state(path: str) -> State:
    found = os.stat(path)  # noqa: PTH116 (thousands of files)
    return [found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns]
