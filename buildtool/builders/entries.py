"""Files of the cache that carry a checksum: put in place whole, and verified when they are used.

The checksum of `x.o` is in `x.o.sha256`, which is in place before `x.o` is. A file without one is one that was never
finished, or that an older Lathe wrote: it is made again like a missing one. A file that does not have its checksum was
damaged later.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from buildtool.digests import sha256_of
from buildtool.errors import Problem, Where

Note: TypeAlias = Callable[[Problem], None]
SUFFIX = ".sha256"


class State(Enum):
    """What a build finds in the place of an entry."""

    ABSENT = "absent"
    SOUND = "sound"
    DAMAGED = "damaged"


def checksum_file(path: Path) -> Path:
    """Where the checksum of an entry is."""
    return path.with_name(path.name + SUFFIX)


def state(path: Path) -> State:
    """Whether an entry is there, and whether it is what was stored. Reads all of it."""
    try:
        stored = checksum_file(path).read_bytes()
        return State.SOUND if sha256_of(path).encode() == stored else State.DAMAGED
    except (FileNotFoundError, NotADirectoryError):
        return State.ABSENT
    except OSError:  # a bad block of the disk
        return State.DAMAGED


def is_sound(path: Path, note: Note) -> bool:
    """Whether an entry may be used; else `put` has to replace it. There is a note about one that is damaged."""
    found = state(path)
    if found is State.DAMAGED:
        note(damage(path))
    return found is State.SOUND


def damage(path: Path) -> Problem:
    """What to tell about an entry that does not have its checksum."""
    return Problem(
        "this cache file was damaged and is created again",
        Where(file=str(path)),
        rule="a cache file must match its stored checksum",
        remedy="no action is needed; if it happens again, check the disk",
    )


def put(made: Path, target: Path) -> None:
    """Store a copy of `made` as the entry `target`: it is either absent or whole, after a loss of power too."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with _in_place(checksum_file(target)) as aside:
        aside.write_text(sha256_of(made))
        _copy_mode(made, aside)
    try:
        with _in_place(target) as aside:
            shutil.copyfile(made, aside)
            _copy_mode(made, aside)
    except BaseException:
        checksum_file(target).unlink(missing_ok=True)
        raise


def discard(path: Path) -> None:
    """Remove an entry and its checksum."""
    for file in (path, checksum_file(path)):
        file.unlink(missing_ok=True)


class Results:
    """The files that a build folder keeps for the next build, with their checksums in the file `lathe-checksums`."""

    _KINDS = (".o", ".a", ".so", ".map")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list = folder / "lathe-checksums"
        self._known: dict[Path, tuple[str, tuple[int, int]]] = {}  # what was verified, and how to know it again

    def verify(self, note: Note) -> None:
        """Where one of the files is damaged, remove all of them, with a note: some of them were made from it."""
        for line in self._lines():
            stored, _, name = line.partition("  ")
            path = self._folder / name
            try:
                found = sha256_of(path)
                self._known[path] = (found, _version(path))
            except OSError:
                continue  # ninja makes a missing file again
            if found != stored:
                for file in self._files():
                    file.unlink(missing_ok=True)
                self._list.unlink(missing_ok=True)
                self._known.clear()
                note(damage(path))
                return

    def store(self) -> None:
        """Write the checksums. What `verify` has read and nothing has changed since is not read again."""
        lines = []
        for path in sorted(self._files()):
            found, version = self._known.get(path, ("", (0, 0)))
            if version != _version(path):
                found = sha256_of(path)
            lines.append(f"{found}  {path.relative_to(self._folder).as_posix()}\n")
        contents = "".join(lines)
        if not self._list.is_file() or self._list.read_text(errors="replace") != contents:
            with _in_place(self._list) as aside:
                aside.write_text(contents)

    def _lines(self) -> Iterable[str]:
        try:
            return self._list.read_text(errors="replace").splitlines()
        except OSError:
            return ()

    def _files(self) -> list[Path]:
        return [path for path in self._folder.rglob("*") if path.suffix in self._KINDS and path.is_file()]


def _version(path: Path) -> tuple[int, int]:
    known = path.stat()
    return known.st_size, known.st_mtime_ns


def _copy_mode(made: Path, aside: Path) -> None:
    """Other users may read it. Disks without modes let everybody do that."""
    with contextlib.suppress(PermissionError):
        shutil.copymode(made, aside)


def _sync(handle: int) -> None:
    """Wait until the file is on the disk, where there is one: file systems in programs may not know what that is."""
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise


@contextlib.contextmanager
def _in_place(target: Path) -> Iterator[Path]:
    """A file to write beside `target`, which it replaces once its content is on the disk."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    aside = Path(name)
    try:
        yield aside
        _sync(handle)
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
