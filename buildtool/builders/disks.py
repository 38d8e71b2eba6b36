"""Says which disk is full, where writing to one fails."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from buildtool.errors import BuildError, Where

_FULL = {errno.ENOSPC: "is full", errno.EDQUOT: "has no space left for you: your quota is used up"}
#: What some file systems of networks and containers cannot do.
_ABILITIES = dict.fromkeys(
    (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP),
    "set LATHE_CACHE_DIR or --output to a folder on a file system that has locks, such as a local disk",
)
ROOM = "free space on the disk, or set LATHE_CACHE_DIR or --output to a folder on another one"


def file_system(path: Path) -> str:
    """The file system that a path is or would be on, by its mount point, and how much room it has."""
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    place = place.resolve()
    usage = shutil.disk_usage(place)
    while not os.path.ismount(place):
        place = place.parent
    return f"the file system '{place}' ({usage.free:,} of {usage.total:,} bytes free)"


def is_full(problem: OSError) -> bool:
    return problem.errno in _FULL


def full(problem: OSError, path: Path) -> BuildError:
    """The error for a write that failed because there is no room: `is_full`."""
    return BuildError(
        f"writing failed: {problem.strerror or problem}: {file_system(path)} {_FULL[problem.errno or 0]}",
        where=Where(file=str(path)),
        remedy=ROOM,
    )


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turns failures of the file system below into a BuildError that says what to do."""
    try:
        yield
    except OSError as problem:
        path = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, str | bytes) else folder
        if is_full(problem):
            raise full(problem, path) from problem
        raise BuildError(
            f"writing failed: {problem.strerror or problem}",
            where=Where(file=str(path)),
            remedy=_ABILITIES.get(problem.errno or 0, "choose a writable folder"),
        ) from problem
