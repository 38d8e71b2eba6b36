"""Reads a sorted table of keys and values, LevelDB's format, in which TensorFlow has the list of variables.

A table is a row of blocks; each entry of a block leaves out what its key shares with the one before. A block of entries
tells where the blocks are, and the last 48 bytes of the file tell where that is.
"""

from __future__ import annotations

import struct

from buildtool.errors import ModelFileError, UnsupportedError, Where

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5  # behind each block: how it is compressed, and a checksum
_DAMAGED = "the list of variables is damaged: save or download the model again"


def read_table(data: bytes, where: Where) -> dict[bytes, bytes]:
    """All entries of a table."""
    if len(data) < _FOOTER or struct.unpack_from("<Q", data, len(data) - 8)[0] != _MAGIC:
        raise ModelFileError("this is not a list of variables", where=where, remedy=_DAMAGED)
    footer = _Bytes(data, len(data) - _FOOTER, len(data) - 8, where)
    footer.handle()  # of what filters keys, which nobody needs here
    entries: dict[bytes, bytes] = {}
    for handle in _block(data, *footer.handle(), where).values():
        entries.update(_block(data, *_Bytes(handle, 0, len(handle), where).handle(), where))
        if sum(map(len, entries)) > 16 * len(data) + 2**20:  # blocks that are referred to again and again
            raise _damaged("its blocks overlap", where)
    return entries


def _block(data: bytes, offset: int, size: int, where: Where) -> dict[bytes, bytes]:
    if offset + size + _TRAILER > len(data):
        raise _damaged(f"bytes {offset} to {offset + size} are not there", where)
    if data[offset + size]:
        raise UnsupportedError("the list of variables is compressed", where=where, remedy="save the model again")
    if size < 4:
        raise _damaged("a block is too short", where)
    (restarts,) = struct.unpack_from("<I", data, offset + size - 4)
    end = offset + size - 4 - 4 * restarts
    if end < offset:
        raise _damaged("a block is too short", where)
    place, key, entries = _Bytes(data, offset, end, where), b"", {}
    while place.position < end:
        shared, own, length = place.number(), place.number(), place.number()
        if shared > len(key):
            raise _damaged("a key shares more than there is", where)
        key = key[:shared] + place.take(own)
        entries[key] = place.take(length)
    return entries


class _Bytes:
    """A place in bytes that moves on as it is read."""

    def __init__(self, data: bytes, position: int, end: int, where: Where) -> None:
        self._data = data
        self.position = position
        self._end = end
        self._where = where

    def take(self, count: int) -> bytes:
        if self.position + count > self._end:
            raise _damaged("an entry ends beyond its block", self._where)
        self.position += count
        return self._data[self.position - count : self.position]

    def number(self) -> int:
        """A number in groups of seven bits, the lowest first."""
        number = shift = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise _damaged("a number is too long", self._where)

    def handle(self) -> tuple[int, int]:
        """Where a block is: offset and size."""
        return self.number(), self.number()


def _damaged(what: str, where: Where) -> ModelFileError:
    return ModelFileError(f"the list of variables makes no sense: {what}", where=where, remedy=_DAMAGED)
