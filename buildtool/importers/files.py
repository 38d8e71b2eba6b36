"""Reads the files of models."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from buildtool.errors import ModelFileError, Where
from buildtool.wording import near_files

LARGEST_FILE = 2**31 - 1  # what protobuf and flatbuffers can address

_SMALL = 2**26  # bytes: holes below that do no harm
_MOST_HOLES = 16  # as many times larger than its data may a file be
_MOST_PIECES = 10_000  # of data between holes


def stored(file: Path) -> int:
    """How many bytes of a file were written; all of them where the file system does not tell."""
    total = place = 0
    with file.open("rb", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        for _ in range(_MOST_PIECES):
            try:
                begin = stream.seek(place, os.SEEK_DATA)
                place = stream.seek(begin, os.SEEK_HOLE)
            except OSError as problem:
                return total if problem.errno == errno.ENXIO else size
            total += place - begin
            if place >= size:
                return total
    return size


def refuse_holes(file: Path, where: Where, damaged: str) -> None:
    """ModelFileError for a large file of which hardly anything was written: it would fill the memory with zeros."""
    size = file.stat().st_size
    if size > _SMALL and stored(file) < size // _MOST_HOLES:
        raise ModelFileError(
            f"the model file has {size:,} bytes, nearly all of which are holes",
            where=where,
            rule="the file is sparse: it consists of zeros that were never written",
            remedy=damaged,
        )


def read_bytes(file: Path, where: Where, too_large: str, damaged: str) -> bytes:
    """The content of a file. `too_large` and `damaged` are remedies for those that are too large or empty."""
    try:
        if not file.is_file():
            raise ModelFileError(
                "the model file does not exist or is not a file",
                where=where,
                remedy=near_files(file) or "correct the path",
            )
        size = file.stat().st_size
        if size == 0:
            raise ModelFileError("the model file is empty", where=where, remedy=damaged)
        if size > LARGEST_FILE:
            raise ModelFileError(
                f"the model file has {size} bytes",
                where=where,
                rule=f"at most {LARGEST_FILE} bytes",
                remedy=too_large,
            )
        refuse_holes(file, where, damaged)
        return file.read_bytes()
    except OSError as problem:
        raise ModelFileError(f"the model file cannot be read: {problem.strerror}", where=where) from problem
