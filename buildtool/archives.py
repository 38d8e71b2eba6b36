"""How large the members of a stranger's zip archive may be: decided by what it states, before anything is unpacked.

A member is never unpacked beyond the size that the archive states for it, so a check of the stated sizes is enough.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

MOST_MEMBERS = 100_000
ROOM = 64 << 20  # bytes beyond the multiples below
WELL_PACKED = 100  # numbers: as many times as large as the archive
MOST_PACKED = 1 << 30  # bytes, where the members are more than twice as large as the archive

#: What Python's module raises for archives that are damaged, encrypted, or packed in ways that it does not know.
DAMAGED = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError),
    *(OSError, EOFError, ValueError, OverflowError),
)


class InflatedError(ValueError):
    """The archive would be unpacked to more than it may."""


def verify(archive: zipfile.ZipFile, size: int, *, dense: int = WELL_PACKED) -> None:
    """InflatedError where the members of an archive of `size` bytes are too many or too large.

    `dense`: how many times larger than the archive they may be; beyond twice that, they have at most MOST_PACKED bytes.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise InflatedError(f"it has {len(members):,} members, at most {MOST_MEMBERS:,} are allowed")
    stated = sum(member.file_size for member in members)
    most = max(2 * size + ROOM, min(dense * size + ROOM, MOST_PACKED))
    if stated > most:
        largest = max(members, key=lambda member: member.file_size).filename[:80]
        raise InflatedError(
            f"its members unpack to {stated:,} bytes (the largest is {largest!a}): an archive of "
            f"{size:,} bytes may hold {most:,}"
        )


def verify_file(file: Path | BinaryIO) -> None:
    """`verify`, of a file that may be an archive: others pass."""
    if isinstance(file, Path):
        with file.open("rb") as stream:
            return verify_file(stream)
    start = file.tell()
    if zipfile.is_zipfile(file):
        size = file.seek(0, 2)
        with zipfile.ZipFile(file) as archive:
            verify(archive, size)
    file.seek(start)
    return None
