"""Numbers that the cases of quantised operators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from tests.ops.inputs import Rng, integers

#: Element types of operands: signed and unsigned ones in every mixture.
BYTE_PAIRS = ((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8), (np.int8, np.uint8))


def whole_range(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    """Any numbers of an integer type; of 32 bits, ones that single precision can tell apart."""
    limits = np.iinfo(dtype)
    if limits.bits > 16:
        return integers(rng, shape, -(2**23), 2**23, dtype)
    return integers(rng, shape, limits.min, limits.max + 1, dtype)


def zero_point(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    """Zero points near the middle of the range."""
    middle = 0 if np.iinfo(dtype).min < 0 else 1 << (np.iinfo(dtype).bits - 1)
    return integers(rng, shape, middle - 9, middle + 9, dtype)


def scale(rng: Rng, shape: tuple[int, ...], dtype: Any = np.float32, low: float = 0.01, high: float = 0.1) -> Array:
    return np.asarray(rng.uniform(low, high, shape), dtype)
