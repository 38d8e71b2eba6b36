"""Reads the files of models."""

from __future__ import annotations

from pathlib import Path

from buildtool.errors import ModelFileError, Where

LARGEST_FILE = 2**31 - 1  # what protobuf and flatbuffers can address


def read_bytes(file: Path, where: Where, too_large: str, damaged: str) -> bytes:
    """The content of a file. `too_large` and `damaged` are remedies for those that are too large or empty."""
    try:
        if not file.is_file():
            raise ModelFileError("the model file does not exist or is no file", where=where)
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
        return file.read_bytes()
    except OSError as problem:
        raise ModelFileError(f"the model file cannot be read: {problem.strerror}", where=where) from problem
