"""Writes files that torch.load(weights_only=True) reads, without torch: the counterpart of `torch_archive`.

The file is a zip: a pickle of the tree, in which tensors name the files that hold their numbers. The same tree gives
the same bytes.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLDER = "archive"
_VERSION = b"3\n"
_LONGEST_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_KINDS = MappingProxyType(
    {
        "f4": "FloatStorage",
        "f8": "DoubleStorage",
        "f2": "HalfStorage",
        "i8": "LongStorage",
        "i4": "IntStorage",
        "i2": "ShortStorage",
        "i1": "CharStorage",
        "u1": "ByteStorage",
        "b1": "BoolStorage",
    }
)

# Instructions of pickles, as far as they are needed.
_PROTOCOL_2 = b"\x80\x02"
_STOP, _MARK, _NONE, _TRUE, _FALSE = b".", b"(", b"N", b"\x88", b"\x89"
_EMPTY_DICT, _EMPTY_LIST, _SET_ITEMS, _APPENDS, _TUPLE = b"}", b"]", b"u", b"e", b"t"
_GLOBAL, _REDUCE, _PERSISTENT = b"c", b"R", b"Q"
_TEXT, _FLOAT, _INT, _LONG = b"X", b"G", b"J", b"\x8a"


def can_hold(value: Any) -> bool:
    """Whether a file of weights may hold a value, whatever it holds itself not looked at."""
    if isinstance(value, np.ndarray):
        return value.dtype.str[1:] in _KINDS
    return value is None or isinstance(value, bool | int | float | str | list | tuple | dict)


def packed(tree: Any) -> bytes:
    """The bytes of a file. ValueError where something in the tree cannot be held."""
    writer = _Writer()
    writer.value(tree)
    entries = [
        ("data.pkl", _PROTOCOL_2 + writer.stream.getvalue() + _STOP),
        ("byteorder", b"little"),
        *((f"data/{key}", _little(array).tobytes()) for key, array in enumerate(writer.arrays)),
        ("version", _VERSION),
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(f"{_FOLDER}/{name}", _LONGEST_AGO), data)
    return buffer.getvalue()


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))


@dataclass
class _Writer:
    """One pickle, and the arrays that it names."""

    stream: io.BytesIO = field(default_factory=io.BytesIO)
    arrays: list[NDArray[Any]] = field(default_factory=list)

    def value(self, value: Any) -> None:
        put = self.stream.write
        if value is None:
            put(_NONE)
        elif isinstance(value, bool):
            put(_TRUE if value else _FALSE)
        elif isinstance(value, int):
            self._int(value)
        elif isinstance(value, float):
            put(_FLOAT + struct.pack(">d", value))
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogatepass")
            put(_TEXT + struct.pack("<I", len(text)) + text)
        elif isinstance(value, dict):
            self._dict(value)
        elif isinstance(value, list):
            put(_EMPTY_LIST + _MARK)
            self._each(value, _APPENDS)
        elif isinstance(value, tuple):
            put(_MARK)
            self._each(value, _TUPLE)
        elif isinstance(value, np.ndarray):
            self._array(value)
        else:
            raise ValueError(f"a {type(value).__name__} cannot be written")

    def _each(self, items: Iterable[Any], end: bytes) -> None:
        for item in items:
            self.value(item)
        self.stream.write(end)

    def _dict(self, mapping: Mapping[Any, Any]) -> None:
        self.stream.write(_EMPTY_DICT + _MARK)
        self._each((part for item in mapping.items() for part in item), _SET_ITEMS)

    def _int(self, number: int) -> None:
        if -(2**31) <= number < 2**31:
            self.stream.write(_INT + struct.pack("<i", number))
            return
        size = number.bit_length() // 8 + 1
        if size > 255:
            raise ValueError("a number is too large")
        self.stream.write(_LONG + bytes([size]) + number.to_bytes(size, "little", signed=True))

    def _name(self, module: str, name: str) -> None:
        self.stream.write(_GLOBAL + f"{module}\n{name}\n".encode())

    def _array(self, array: NDArray[Any]) -> None:
        """A tensor that owns its numbers, row by row."""
        kind = _KINDS.get(array.dtype.str[1:])
        if kind is None:
            raise ValueError(f"an array of {array.dtype} cannot be written")
        strides = [int(np.prod(array.shape[axis + 1 :], dtype=np.int64)) for axis in range(array.ndim)]
        put = self.stream.write
        self._name("torch._utils", "_rebuild_tensor_v2")
        put(_MARK)
        put(_MARK)
        self.value("storage")
        self._name("torch", kind)
        self._each([str(len(self.arrays)), "cpu", array.size], _TUPLE)
        put(_PERSISTENT)
        self._each([0, tuple(array.shape), tuple(strides), False], b"")
        self._name("collections", "OrderedDict")
        put(_MARK + _TUPLE + _REDUCE)
        put(_TUPLE + _REDUCE)
        self.arrays.append(array)


def without_opaque(tree: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A tree without what no file of weights may hold, and the names of what was left out."""
    left_out: list[str] = []

    def holds(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str | int) and holds(item) for key, item in value.items())
        if isinstance(value, list | tuple):
            return all(holds(item) for item in value)
        return can_hold(value)

    kept: dict[str, Any] = {}
    for name, value in tree.items():
        if holds(value):
            kept[name] = value
        elif isinstance(value, dict):
            inner, names = without_opaque(value)
            kept[name] = inner
            left_out += [f"{name}.{part}" for part in names]
        else:
            left_out.append(name)
    return kept, tuple(left_out)
