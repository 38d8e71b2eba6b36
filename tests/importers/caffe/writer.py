"""Writes prototxts and caffemodels. Needs NumPy alone, since the oracle's Python has nothing else."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def numbers(shape: Sequence[int], seed: int, low: float = -1.0, high: float = 1.0) -> Array:
    """Numbers that look random and are the same everywhere; a multiple of 2^-16 of the range lies between any two."""
    count = int(np.prod(shape, dtype=np.int64))
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(7919 * (seed + 1))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    part = (mixed >> np.uint64(48)).astype(np.float64) / 65536.0
    return np.asarray((low + (high - low) * part).reshape(shape), np.float32)


def layer(kind: str, name: str, bottoms: str, parameters: str = "", tops: str = "") -> str:
    """A layer of today's form; its top is called as the layer unless `tops` are given."""
    lines = [f'name: "{name}"', f'type: "{kind}"', *(f'bottom: "{bottom}"' for bottom in bottoms.split())]
    lines += [f'top: "{top}"' for top in (tops or name).split()]
    return "layer {\n  " + "\n  ".join([*lines, *filter(None, [parameters])]) + "\n}\n"


def inputs(shapes: Mapping[str, Sequence[int]]) -> str:
    """The inputs of a network."""
    text = "".join(f'input: "{name}"\n' for name in shapes)
    dims = (" ".join(f"dim: {size}" for size in shape) for shape in shapes.values())
    return text + "".join(f"input_shape {{ {one} }}\n" for one in dims)


def caffemodel(weights: Mapping[str, Sequence[Array]], old: bool = False, double: bool = False) -> bytes:
    """The binary form; `old`: with layers of the form V1, and shapes of four numbers."""
    layers = (
        _bytes(4 if old else 1, name.encode())
        + b"".join(_bytes(6 if old else 7, _blob(blob, old, double)) for blob in blobs)
        for name, blobs in weights.items()
    )
    return b"".join(_bytes(2 if old else 100, one) for one in layers)


def _blob(array: Array, old: bool, double: bool) -> bytes:
    if old:
        shape = (*(1,) * (4 - array.ndim), *array.shape)
        head = b"".join(_varint(number << 3) + _varint(size) for number, size in enumerate(shape, 1))
    else:
        head = _bytes(7, _bytes(1, b"".join(_varint(size) for size in array.shape)))
    return head + (_bytes(8, array.astype("<f8").tobytes()) if double else _bytes(5, array.astype("<f4").tobytes()))


def _bytes(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return struct.pack(f"{len(parts) + 1}B", *parts, value)
