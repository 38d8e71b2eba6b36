"""Cases of the rarer element types, for operators that take several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from buildtool.ir.operator import Array, Operator
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label

WIDE: tuple[Any, ...] = (np.float64,)
FLOATS: tuple[Any, ...] = (np.float16, np.float64)
UNSIGNED: tuple[Any, ...] = (np.uint8, np.uint16, np.uint32, np.uint64)
SIGNED: tuple[Any, ...] = (np.int8, np.int16, np.int32, np.int64)
INTEGERS: tuple[Any, ...] = (*SIGNED, *UNSIGNED)
NUMBERS: tuple[Any, ...] = (*FLOATS, *INTEGERS)
#: What is left where the common cases have halves, single precision, and 32 and 64 bit integers.
RARE: tuple[Any, ...] = (np.float64, np.int8, np.int16, *UNSIGNED)

Make = Callable[[Rng, tuple[int, ...], Any], Array]


def anything(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers of a type: floats around 0, integers of the whole range, the ends included."""
    if np.issubdtype(dtype, np.floating):
        return np.asarray(rng.uniform(-4, 4, shape), dtype)
    limits = np.iinfo(dtype)
    numbers = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    ends = rng.choice(np.array([limits.min, limits.max, 0, 1], dtype), shape)
    return np.asarray(np.where(rng.random(shape) < 0.3, ends, numbers), dtype)


def between(low: float, high: float) -> Make:
    """Numbers of an interval; what lies below an unsigned type starts at 0."""

    def make(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
        least = max(low, 0) if np.issubdtype(dtype, np.unsignedinteger) else low
        if np.issubdtype(dtype, np.floating):
            return np.asarray(rng.uniform(least, high, shape), dtype)
        return np.asarray(rng.integers(int(least), int(high), shape, dtype, endpoint=True), dtype)

    return make


def unary_types(rng: Rng, op: Operator, dtypes: Sequence[Any] = WIDE, make: Make = anything) -> Iterator[OpCase]:
    """A case of each type."""
    for dtype in dtypes:
        yield OpCase(op, (make(rng, (3, 41), dtype),), f"of_{np.dtype(dtype).name}")


def binary_types(
    rng: Rng, op: Operator, dtypes: Sequence[Any] = RARE, make: Make = anything, second: Make | None = None
) -> Iterator[OpCase]:
    """Cases of each type: equal shapes, and a column that meets a row."""
    for dtype in dtypes:
        for a, b in (((37,), (37,)), ((5, 1), (2, 1, 7))):
            operands = (make(rng, a, dtype), (second or make)(rng, b, dtype))
            yield OpCase(op, operands, label("of", np.dtype(dtype).name, a, "with", b))


def in_half(cases: Iterable[OpCase]) -> Iterator[OpCase]:
    """The cases of single precision again, in half precision."""
    for case in cases:
        if all(array.dtype == np.float32 for array in case.inputs):
            halves = tuple(array.astype(np.float16) for array in case.inputs)
            yield replace(case, inputs=halves, name=f"in_half_{case.name}")


def special(*more: float) -> Array:
    """Numbers at which elementary functions differ: zeros, infinities, what is no number, tiny and huge ones."""
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-30, -1e-5, 3e38, -3e38, *more]
    return np.array(numbers, np.float32)
