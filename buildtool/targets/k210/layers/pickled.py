"""Lists of arrays as NumPy pickles them, read without running what a pickle asks for.

TensorLayer's `save_npz` stores a list of arrays of different shapes, which NumPy can only pickle. The reader of pickles
builds records of what it was told: arrays are then made of records whose sizes fit.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from buildtool.ir.operator import Array
from buildtool.pickles import Builder, RefusedError, Stateful, follow

_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric", "numpy")
_KINDS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


@dataclass(eq=False)
class _Dtype(Stateful):
    """`numpy.dtype("f4")`; the order of bytes is in its state."""

    kind: object = ""

    def real(self) -> np.dtype[Any] | None:
        """None for a dtype of anything but numbers."""
        if not isinstance(self.kind, str) or self.kind not in _KINDS:
            return None
        order = self.state[1] if isinstance(self.state, tuple) and len(self.state) > 1 else "="
        return np.dtype(f"{'>' if order == '>' else '<'}{self.kind}")


@dataclass(eq=False)
class _Record(Stateful):
    """An array that NumPy's own functions would have made."""


def _from_buffer(arguments: tuple[Any, ...]) -> _Record:
    data, dtype, shape, *order = arguments
    return _Record((1, shape, dtype, order == ["F"], data))


def _encoded(arguments: tuple[Any, ...]) -> bytes:
    """How protocol 2 writes bytes."""
    text, *encoding = arguments
    if not isinstance(text, str) or encoding not in ([], ["latin1"]):
        raise RefusedError("bytes in a format that NumPy does not write")
    return text.encode("latin1")


_OF_NUMPY: Mapping[str, Builder] = MappingProxyType(
    {
        "_reconstruct": lambda _: _Record(),
        "dtype": lambda arguments: _Dtype(kind=arguments[0]),
        "_frombuffer": _from_buffer,
    }
)
_BUILDERS: Mapping[str, Builder] = MappingProxyType(
    {
        **{f"{module}.{name}": builder for module in _MODULES for name, builder in _OF_NUMPY.items()},
        "_codecs.encode": _encoded,
    }
)
_MENTIONED = frozenset(f"{module}.ndarray" for module in _MODULES)


def read(source: BinaryIO) -> list[Array]:
    """The arrays of a list in a `.npy`. ValueError, RefusedError or what NumPy raises, where it holds anything else."""
    version = np.lib.format.read_magic(source)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(source)
    if dtype != np.dtype(object):
        raise ValueError("it is not a list of arrays")
    found = follow(io.BytesIO(source.read()), _BUILDERS)
    for name in sorted(map(str, found.names)):
        if name not in _BUILDERS and name not in _MENTIONED:
            raise RefusedError(f"it names {name}, which is not part of an array")
    whole = found.value.state if isinstance(found.value, _Record) else None
    items = whole[4] if isinstance(whole, tuple) and len(whole) == 5 else None
    if not isinstance(items, list) or math.prod(shape) != len(items):
        raise ValueError("it is not a list of arrays")
    return [_array(item) for item in items]


def _array(record: object) -> Array:
    if not isinstance(record, _Record) or not isinstance(record.state, tuple) or len(record.state) != 5:
        raise ValueError("an element of the list is not an array")
    _, shape, dtype, fortran, data = record.state
    real = dtype.real() if isinstance(dtype, _Dtype) else None
    sizes = shape if isinstance(shape, tuple) and all(isinstance(size, int) and size >= 0 for size in shape) else None
    if real is None or sizes is None or not isinstance(data, bytes | bytearray):
        raise ValueError("an element of the list is not a numeric array")
    if len(sizes) > 8 or math.prod(sizes) * real.itemsize != len(data):
        raise ValueError(f"an array of the shape {list(sizes)} has {len(data)} bytes")
    return np.frombuffer(bytes(data), real).reshape(sizes, order="F" if fortran else "C")
