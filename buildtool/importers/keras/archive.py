"""Reads `.keras` files, which are zip archives of a description, some facts and the weights."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath
from typing import BinaryIO

from buildtool import archives, budget
from buildtool.errors import LatheError, ModelFileError, UnsupportedError, Where
from buildtool.importers.files import LARGEST_FILE
from buildtool.importers.keras.hdf5 import DAMAGED

SIGNATURE = b"PK\x03\x04"
WEIGHTS = "model.weights.h5"
_MOST_MEMBERS = 2**16
_MOST_DENSE = 1100  # how many times smaller deflate can make data, a little more than it really can
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """An open `.keras` file."""

    def __init__(self, source: BinaryIO, where: Where) -> None:
        self._where = where
        try:
            size = source.seek(0, io.SEEK_END)
            self._zip = zipfile.ZipFile(source)
            archives.verify(self._zip, size)
            self._members = {info.filename: info for info in self._zip.infolist()}
        except archives.InflatedError as problem:
            raise ModelFileError(f"the archive is not unpacked: {problem}", where=where, remedy=DAMAGED) from problem
        except archives.DAMAGED as problem:
            raise ModelFileError(f"this is not a zip archive: {problem}", where=where, remedy=DAMAGED) from problem
        if len(self._zip.infolist()) > _MOST_MEMBERS or len(self._members) < len(self._zip.infolist()):
            self._refuse("has too many files, or two of one name")
        for name in self._members:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name:
                self._refuse(f"holds '{name}', which is a path outside of it")

    def read(self, name: str) -> bytes:
        """A file of the archive."""
        info = self._members.get(name)
        if info is None:
            if name == WEIGHTS:
                raise UnsupportedError(
                    f"the archive contains no '{name}'",
                    where=self._where,
                    rule="weights in one HDF5 file, as Keras saves them by default",
                    remedy="save the model without shards and without NumPy weights",
                )
            self._refuse(f"contains no '{name}'")
            raise AssertionError
        if info.flag_bits & 1 or info.compress_type not in _METHODS:
            self._refuse(f"holds '{name}' encrypted or with an unsupported compression")
        if info.file_size > min(LARGEST_FILE, info.compress_size * _MOST_DENSE):
            self._refuse(f"states {info.file_size} bytes for '{name}'")
        budget.made(info.file_size)
        try:
            with self._zip.open(info) as member:
                data = member.read(info.file_size + 1)
        except LatheError:
            raise
        except archives.DAMAGED as problem:
            raise ModelFileError(
                f"'{name}' in the archive cannot be read: {problem}", where=self._where, remedy=DAMAGED
            ) from problem
        if len(data) != info.file_size:
            self._refuse(f"states {info.file_size} bytes for '{name}' and holds another number")
        return data

    def has(self, name: str) -> bool:
        return name in self._members

    def weights(self) -> BinaryIO:
        return io.BytesIO(self.read(WEIGHTS))

    def _refuse(self, what: str) -> None:
        raise ModelFileError(f"the archive {what}", where=self._where, remedy=DAMAGED)
