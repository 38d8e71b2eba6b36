"""Reads HDF5 files as Keras writes them: groups, datasets of plain numbers, and attributes that are text.

HDF5 can do much more than Keras asks for. What could lead out of the file, allocate more than the file justifies or run
somebody's code is refused before it is read: links to other files, external and virtual storage, objects, rare filters.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import h5py
import numpy as np

from buildtool import budget
from buildtool.errors import LatheError, ModelFileError, Where
from buildtool.ir.operator import Array

SIGNATURE = b"\x89HDF\r\n\x1a\n"
DAMAGED = "the file is damaged or truncated: save or download it again"
_MOST_TEXT = 2**28  # bytes of one attribute
_MOST_WEIGHTS = 2**32  # bytes of all datasets that are read
_MOST_DENSE = 1100  # how many times smaller deflate can make data, a little more than it really can
_HEAP = b"GCOL\x01"
#: What stands for texts of any length in an attribute: a class, how they end, an encoding, and bytes for each.
_TEXTS = re.compile(rb"\x19[\x01\x11\x21][\x00\x01]\x00\x10\x00\x00\x00", re.DOTALL)
_MOST_TEXTS = 2**12  # of an attribute that stands with its object
_KIND = (24, 20)  # bytes of that in older attributes, which fill up to multiples of 8, and in newer ones
_KNOWN_FILTERS = frozenset({1, 2, 3, 32000})  # deflate, shuffle, checksum, lzf


class Hdf5:
    """An open file. Every access gives a ModelFileError where the file is wrong."""

    def __init__(self, source: BinaryIO, where: Where) -> None:
        self.where = where
        self._left = _MOST_WEIGHTS
        self._check_heaps(source)
        with self.guarded():
            self._file = h5py.File(source, "r")

    def _check_heaps(self, source: BinaryIO) -> None:
        """Texts lie in heaps: lists of objects. The library never ends where one of them has no size."""
        data = source.read()
        source.seek(0)
        start = data.find(_HEAP)
        while start >= 0:
            (size,) = struct.unpack_from("<Q", data.ljust(start + 16, b"\0"), start + 8)
            end, at = start + size, start + 16
            if end > len(data):
                self.refuse(f"a heap of {size} bytes", "/")
            while at + 16 <= end:
                index, taken = struct.unpack_from("<H6xQ", data, at)
                needed = 16 + (taken + 7) // 8 * 8 if index else taken
                if not 16 <= needed <= end - at:
                    self.refuse(f"a heap with an object of {taken} bytes", "/")
                at += needed
            start = data.find(_HEAP, start + 1)
        self._check_texts(data)

    def _check_texts(self, data: bytes) -> None:
        """Texts are referred to by their length and a place. The library makes room for any length."""
        for found in _TEXTS.finditer(data):
            for kind in _KIND:
                longest = _longest_text(data, found.start() + kind)
                if longest > len(data):
                    self.refuse(f"a text of {longest} bytes", "/")

    def close(self) -> None:
        with self.guarded():
            self._file.close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Whatever h5py raises on a damaged file becomes one error; its classes differ from place to place."""
        try:
            yield
        except LatheError:
            raise
        except Exception as problem:
            text = (str(problem) or type(problem).__name__).splitlines()[0]
            raise ModelFileError(f"HDF5 cannot read it: {text}", where=self.where, remedy=DAMAGED) from problem

    @property
    def root(self) -> Group:
        return Group(self, self._file, "/")

    def take(self, size: int, name: str) -> None:
        """Counts the bytes that are read: one dataset may stand under any number of names."""
        budget.made(size)
        self._left -= size
        if self._left < 0:
            self.refuse(f"the datasets together have more than {_MOST_WEIGHTS} bytes", name)

    def refuse(self, what: str, name: str) -> None:
        raise ModelFileError(
            what, where=Where(self.where.file, model=self.where.model, value=name), remedy="save the model with Keras"
        )


def _longest_text(data: bytes, start: int) -> int:
    """How long the texts of an attribute say to be whose shape begins there."""
    version, rank, flags = data[start : start + 3].ljust(3, b"\0")
    begin = start + (8 if version == 1 else 4)
    end = begin + 8 * rank * (1 + (flags & 1))
    if version not in (1, 2) or rank > 2 or end > len(data):
        return 0
    count = min(math.prod(struct.unpack_from(f"<{rank}Q", data, begin)), _MOST_TEXTS, (len(data) - end) // 16)
    return int(np.frombuffer(data, "<u4", 4 * count, end)[::4].max(initial=0))


class Group:
    """A group of a file: other groups and datasets by name."""

    def __init__(self, file: Hdf5, item: Any, path: str) -> None:
        self._file = file
        self._item = item
        self._path = path

    def group(self, *names: str) -> Group | None:
        """The group at the end of a path; None where there is none."""
        found = self._at(names)
        return found if isinstance(found, Group) else None

    def dataset(self, *names: str) -> Dataset | None:
        """The dataset at the end of a path; None where there is none."""
        found = self._at(names)
        return found if isinstance(found, Dataset) else None

    def _at(self, names: tuple[str, ...]) -> Group | Dataset | None:
        item, path = self._item, self._path
        with self._file.guarded():
            for name in (part for whole in names for part in whole.split("/") if part not in ("", ".")):
                if not isinstance(item, h5py.Group) or name not in item:
                    return None
                path = f"{path.rstrip('/')}/{name}"
                if not isinstance(item.get(name, getlink=True), h5py.HardLink):
                    self._file.refuse("an external link", path)
                item = item[name]
            if isinstance(item, h5py.Dataset):
                return Dataset(self._file, item, path)
            return Group(self._file, item, path) if isinstance(item, h5py.Group) else None

    def text(self, name: str) -> str | None:
        """An attribute that is one text; None where there is none."""
        found = self._texts(name)
        return found[0] if found else None

    def texts(self, name: str) -> list[str]:
        """An attribute that is a list of texts: a long one is stored in parts `name0`, `name1` and so on."""
        whole = self._texts(name)
        if whole is not None:
            return whole
        parts: list[str] = []
        for number in range(2**20):
            part = self._texts(f"{name}{number}")
            if part is None:
                break
            parts += part
        return parts

    def _texts(self, name: str) -> list[str] | None:
        with self._file.guarded():
            if name not in self._item.attrs:
                return None
            attribute = self._item.attrs.get_id(name)
            count, kind = math.prod(attribute.shape), h5py.check_string_dtype(attribute.dtype)
            if count == 0:
                return []
            if kind is None or count * max(kind.length or 1, 1) > _MOST_TEXT:
                self._file.refuse(f"the attribute '{name}' is not text", self._path)
            items = np.asarray(self._item.attrs[name], object).reshape(-1)
            return [item.decode("utf-8") if isinstance(item, bytes) else str(item) for item in items]


class Dataset:
    """A dataset of a file."""

    def __init__(self, file: Hdf5, item: Any, path: str) -> None:
        self._file = file
        self._item = item
        self.path = path

    def array(self) -> Array:
        """The content; floats of any width in single precision."""
        with self._file.guarded():
            dtype, shape = self._item.dtype, self._item.shape
            if shape is None or dtype.kind not in "fiub" or dtype.itemsize > 8:
                self._file.refuse(f"a dataset of {dtype}, not of numbers", self.path)
            self._check_storage(math.prod(shape) * dtype.itemsize)
            content = np.asarray(self._item[()])
            if dtype == np.uint16 and Group(self._file, self._item, self.path).text("dtype") == "bfloat16":
                return (content.astype(np.uint32) << 16).view(np.float32)
            return content.astype(np.float32, copy=False) if dtype.kind == "f" else content

    def _check_storage(self, size: int) -> None:
        """The file has to hold what it promises, in its own storage."""
        plan = self._item.id.get_create_plist()
        layout, stored = plan.get_layout(), self._item.id.get_storage_size()
        filters = {plan.get_filter(index)[0] for index in range(plan.get_nfilters())}
        if plan.get_external_count() or layout not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED):
            self._file.refuse("a dataset with external storage", self.path)
        if not filters <= _KNOWN_FILTERS:
            self._file.refuse(f"a dataset with the filters {sorted(filters)}", self.path)
        most = stored * _MOST_DENSE if filters else stored
        chunk = math.prod(self._item.chunks or ()) * self._item.dtype.itemsize if layout == h5py.h5d.CHUNKED else 0
        if max(size, chunk) > most:
            self._file.refuse(f"a dataset of {size} bytes, of which the file contains {stored}", self.path)
        self._file.take(max(size, chunk), self.path)
