"""Reads flatbuffers of which nothing is believed: every offset and size is checked before it is used.

The runtime of the flatbuffers package follows offsets unchecked. Here each of them must lie in the file, and a file
cannot make more work than its size allows, however often it points to the same table.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from buildtool.errors import ModelFileError, Where
from buildtool.ir.operator import Array

_IDENTIFIER = slice(4, 8)
_LONGEST_TEXT = 1 << 16


class File:
    """The bytes of a file, and how many of its tables have been read."""

    def __init__(self, data: bytes, where: Where, damaged: str) -> None:
        """`damaged`: the remedy that users get for invalid bytes."""
        self.data = data
        self.where = where
        self.damaged = damaged
        self._left = 64 + len(data)  # a table and the offset to it need 12 bytes; some are read several times

    def identifier(self) -> bytes:
        """The four bytes that say of which kind the file is."""
        return self.data[_IDENTIFIER]

    def root(self) -> Table:
        return Table(self, self.number("<I", 0))

    def number(self, kind: str, position: int) -> int:
        """The whole number at a position."""
        self.check(position, struct.calcsize(kind))
        return int(struct.unpack_from(kind, self.data, position)[0])

    def check(self, position: int, size: int) -> None:
        """ModelFileError where these bytes are not there."""
        if position < 0 or size < 0 or position + size > len(self.data):
            raise ModelFileError(
                f"bytes {position} to {position + size} are missing: the file has {len(self.data)}",
                where=self.where,
                remedy=self.damaged,
            )

    def spend(self) -> None:
        """Counts a table. A file whose tables refer to each other crosswise would be read without end."""
        self._left -= 1
        if self._left < 0:
            raise ModelFileError("the same tables are used too often", where=self.where, remedy=self.damaged)


class Table:
    """A table of fields by their numbers in the schema; absent fields have their default."""

    def __init__(self, file: File, position: int) -> None:
        file.spend()
        self.file = file
        self.position = position
        self._index = position - file.number("<i", position)
        size, span = file.number("<H", self._index), file.number("<H", self._index + 2)
        file.check(self._index, size)
        file.check(position, span)
        self._fields = max(size // 2 - 2, 0)
        self._span = span

    def _at(self, field: int, size: int) -> int | None:
        """Where a field stands that needs so many bytes."""
        offset = self.file.number("<H", self._index + 4 + 2 * field) if field < self._fields else 0
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._span:
            raise ModelFileError(
                f"field {field} is outside of its table", where=self.file.where, remedy=self.file.damaged
            )
        return self.position + offset

    def integer(self, field: int, kind: str = "<i", default: int = 0) -> int:
        position = self._at(field, struct.calcsize(kind))
        return default if position is None else self.file.number(kind, position)

    def _target(self, field: int) -> int | None:
        position = self._at(field, 4)
        return None if position is None else position + self.file.number("<I", position)

    def table(self, field: int) -> Table | None:
        position = self._target(field)
        return None if position is None else Table(self.file, position)

    def _vector(self, field: int, size: int) -> tuple[int, int]:
        """Where the elements of a vector begin, and how many there are."""
        position = self._target(field)
        if position is None:
            return 0, 0
        count = self.file.number("<I", position)
        self.file.check(position + 4, count * size)
        return position + 4, count

    def tables(self, field: int) -> Iterator[Table]:
        start, count = self._vector(field, 4)
        for position in range(start, start + 4 * count, 4):
            yield Table(self.file, position + self.file.number("<I", position))

    def numbers(self, field: int, kind: str) -> Array:
        """A vector of numbers of a NumPy type; empty where it is absent."""
        dtype = np.dtype(kind)
        start, count = self._vector(field, dtype.itemsize)
        return np.frombuffer(self.file.data, dtype, count, start) if count else np.zeros(0, dtype)

    def real(self, field: int, default: float = 0.0) -> float:
        position = self._at(field, 4)
        if position is None:
            return default
        self.file.check(position, 4)
        return float(struct.unpack_from("<f", self.file.data, position)[0])

    def texts(self, field: int) -> Iterator[str]:
        """A vector of texts."""
        start, count = self._vector(field, 4)
        for position in range(start, start + 4 * count, 4):
            self.file.spend()
            begin = position + self.file.number("<I", position)
            size = self.file.number("<I", begin)
            self.file.check(begin + 4, size)
            yield self.file.data[begin + 4 : begin + 4 + min(size, _LONGEST_TEXT)].decode("utf-8", "replace")

    def has(self, field: int) -> bool:
        return self._at(field, 1) is not None

    def text(self, field: int) -> str:
        start, count = self._vector(field, 1)
        return self.file.data[start : start + min(count, _LONGEST_TEXT)].decode("utf-8", "replace")
