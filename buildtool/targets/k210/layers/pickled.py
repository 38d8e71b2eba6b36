"""Lists of arrays as NumPy pickles them, read without running what a pickle asks for.

TensorLayer's `save_npz` stores a list of arrays of different shapes, which NumPy can only pickle. Here the pickle's
machine builds records of what it was told, and nothing else: arrays are then made of records whose sizes fit.
"""

from __future__ import annotations

import io
import math
import pickle
from typing import Any, BinaryIO

import numpy as np

from buildtool.ir.operator import Array

_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric", "numpy")
_KINDS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


class _Dtype:
    """`numpy.dtype("f4")`, and the order of bytes that its state tells."""

    def __init__(self, kind: object = "", *_: object) -> None:
        self.kind = kind
        self.order: object = "="

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple) and len(state) > 1:
            self.order = state[1]

    def real(self) -> np.dtype[Any] | None:
        """None for a dtype of anything but numbers."""
        if self.kind not in _KINDS:
            return None
        return np.dtype(f"{'>' if self.order == '>' else '<'}{self.kind}")


class _Record:
    """An array that NumPy's own functions would have made."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, tuple) else ()


class _Name:
    """`numpy.ndarray`, which is only mentioned."""


def _from_buffer(data: object, dtype: object, shape: object, order: object = "C") -> _Record:
    made = _Record()
    made.state = (1, shape, dtype, order == "F", data)
    return made


def _encode(text: object, encoding: object = "latin1") -> bytes:
    """How protocol 2 writes bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("bytes in a form that NumPy does not write")
    return text.encode("latin1")


class _Reader(pickle._Unpickler):
    """That of Python's own in Python: the one in C makes as much room as a file asks for."""

    def find_class(self, module: str, name: str) -> Any:
        if module in _NUMPY:
            known = {"_reconstruct": _Record, "ndarray": _Name, "dtype": _Dtype, "_frombuffer": _from_buffer}
            if name in known:
                return known[name]
        if (module, name) == ("_codecs", "encode"):
            return _encode
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no part of an array")


def read(source: BinaryIO) -> list[Array]:
    """The arrays of a list in a `.npy`. ValueError, or what NumPy and pickle raise, where it holds anything else."""
    version = np.lib.format.read_magic(source)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(source)
    if dtype != np.dtype(object):
        raise ValueError("it is no list of arrays")
    whole = _Reader(io.BytesIO(source.read())).load()
    items = whole.state[4] if isinstance(whole, _Record) and len(whole.state) == 5 else None
    if not isinstance(items, list) or math.prod(shape) != len(items):
        raise ValueError("it is no list of arrays")
    return [_array(item) for item in items]


def _array(record: object) -> Array:
    if not isinstance(record, _Record) or len(record.state) != 5:
        raise ValueError("a part of the list is no array")
    _, shape, dtype, fortran, data = record.state
    real = dtype.real() if isinstance(dtype, _Dtype) else None
    sizes = shape if isinstance(shape, tuple) and all(isinstance(size, int) and size >= 0 for size in shape) else None
    if real is None or sizes is None or not isinstance(data, bytes | bytearray):
        raise ValueError("a part of the list is no array of numbers")
    if len(sizes) > 8 or math.prod(sizes) * real.itemsize != len(data):
        raise ValueError(f"an array of the shape {list(sizes)} has {len(data)} bytes")
    return np.frombuffer(bytes(data), real).reshape(sizes, order="F" if fortran else "C")
