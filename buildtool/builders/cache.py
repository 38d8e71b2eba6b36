"""What is in the cache, and how to make room: every entry can be made again, so what nobody is using may go."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.builders.disks import writing_to
from buildtool.builders.entries import discard
from buildtool.builders.objects import USE_LOCK
from buildtool.errors import BuildError, ConfigError, Where

# What lies where, and which paths are entries of their own.
_KINDS = {
    "objects": ("compiled kernels and runtime", "objects/*/*.o"),
    "compile": ("folders in which CMake compiles, one per toolchain", "compile/*"),
    "link": ("folders in which libraries are linked, one per output", "link/*"),
    "tools": ("programs that run models on devices", "tools/*"),
    "gpu-programs": ("programs compiled by GPU drivers", "gpu-programs/*"),
    "android-check": ("substitutes for an Android NDK", "android-check/*"),
    "builds": ("what `lathe build` has read and written", "builds/*"),
    "checked": ("models that `lathe check` has verified", "checked/*"),
    "drafts": ("deployment files for models that were given without one", "drafts/*"),
    "downloads": ("model files from the network", "downloads/*"),
}
_DAY = 86400.0
_WAIT = 60.0  # seconds for builds to end
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Entry:
    """Something that can be removed on its own."""

    kind: str
    path: Path
    bytes: int
    used: float  # when it was last used


@dataclass(frozen=True)
class Pruned:
    """What was removed."""

    entries: int
    bytes: int


def entries(folder: Path) -> list[Entry]:
    """Everything in the cache, the most recently used first."""
    found = []
    for kind, (_, pattern) in _KINDS.items():
        for path in folder.glob(pattern):
            try:
                found.append(_entry(kind, path))
            except OSError:
                continue  # somebody else has pruned it
    return sorted(found, key=lambda entry: -entry.used)


def kinds() -> dict[str, str]:
    """The kinds of entries, and what they are."""
    return {kind: text for kind, (text, _) in _KINDS.items()}


def size_of(text: str) -> int:
    """A number of bytes such as 500M or 2G. ConfigError where it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ConfigError(f"'{text}' is not a size", remedy="write it like 500M or 2G")
    return int(float(match.group(1)) * _UNITS[match.group(2).upper()])


def prune(folder: Path, *, days: float, most: int | None, wait: float = _WAIT) -> Pruned:
    """Remove what was not used for so many days, and then the longest unused until at most `most` bytes are left.

    Waits for builds that use the cache, and lets new ones wait; BuildError where they do not end.
    """
    if not folder.is_dir():
        return Pruned(0, 0)
    with writing_to(folder):
        handle = os.open(folder / USE_LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle, folder, wait)
            doomed = list(_doomed(entries(folder), time.time() - days * _DAY, most))
            for entry in doomed:
                _remove(entry.path)
        finally:
            os.close(handle)
    return Pruned(len(doomed), sum(entry.bytes for entry in doomed))


def _doomed(found: Sequence[Entry], oldest: float, most: int | None) -> Iterator[Entry]:
    kept = 0
    for entry in found:
        kept += entry.bytes
        if entry.used < oldest or (most is not None and kept > most):
            kept -= entry.bytes
            yield entry


def _lock(handle: int, folder: Path, wait: float) -> None:
    ends = time.monotonic() + wait
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > ends:
                raise BuildError(
                    "builds are using the cache",
                    where=Where(file=str(folder)),
                    rule="files that a build may need are not removed",
                    remedy="prune it when they have finished",
                ) from None
        time.sleep(0.1)


def _entry(kind: str, path: Path) -> Entry:
    if not path.is_dir():
        return Entry(kind, path, path.stat().st_size, _used(path))
    files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
    return Entry(kind, path, sum(file.stat().st_size for file in files), max(map(_used, files), default=0.0))


def _used(file: Path) -> float:
    known = file.stat()
    return max(known.st_atime, known.st_mtime)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        discard(path)
