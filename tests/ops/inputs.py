"""Shapes and numbers that the cases of several operators share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array, Operator
from tests.ops.case import OpCase

Rng = np.random.Generator

# Ranks 0 to 5; ones, primes, multiples of no vector width and of every one.
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (1,),
    (3,),
    (7,),
    (17,),
    (64,),
    (1023,),
    (1, 1),
    (3, 5),
    (31, 33),
    (4, 128),
    (2, 3, 5),
    (1, 13, 1),
    (8, 1, 16),
    (1, 2, 3, 4),
    (2, 7, 5, 3),
    (1, 9, 9, 17),
    (1, 16, 16, 8),
    (2, 1, 3, 1, 5),
    (3, 2, 2, 2, 7),
    (1, 2, 3, 5, 11),
)

# Pairs that broadcast: equal, scalars, rows, columns, missing axes, both ways at once.
PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((1,), (1,)),
    ((17,), (17,)),
    ((17,), ()),
    ((), (5, 3)),
    ((1023,), (1,)),
    ((3, 5), (3, 5)),
    ((3, 5), (5,)),
    ((7, 1), (1, 9)),
    ((7, 9), (7, 1)),
    ((2, 3, 5), (2, 3, 5)),
    ((2, 3, 5), (3, 1)),
    ((1, 13, 1), (11, 1, 4)),
    ((1, 4, 4, 8), (8,)),
    ((2, 5, 7, 3), (1, 1, 1, 3)),
    ((2, 5, 7, 3), (2, 1, 1, 3)),
    ((2, 5, 7, 3), (5, 7, 1)),
    ((1, 1, 1, 17), (2, 3, 5, 17)),
    ((2, 1, 3, 1, 5), (1, 4, 1, 2, 5)),
    ((3, 2, 2, 2, 7), (7,)),
    ((1, 2, 3, 5, 11), (1, 2, 3, 5, 11)),
)


def normal(rng: Rng, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return np.asarray(rng.standard_normal(shape), dtype)


def uniform(rng: Rng, shape: tuple[int, ...], low: float, high: float, dtype: Any = np.float32) -> Array:
    return np.asarray(rng.uniform(low, high, shape), dtype)


def integers(rng: Rng, shape: tuple[int, ...], low: int, high: int, dtype: Any = np.int32) -> Array:
    return np.asarray(rng.integers(low, high, shape), dtype)


def label(*parts: object) -> str:
    """A name of a case from numbers, words and shapes."""
    words = []
    for part in parts:
        text = "x".join(map(str, part)) or "scalar" if isinstance(part, tuple) else str(part)
        words.append(text.replace("-", "m").replace(".", "p").replace("+", ""))
    return "_".join(words)


def unary(rng: Rng, op: Operator, low: float = -4.0, high: float = 4.0) -> Iterator[OpCase]:
    """One case per shape, evenly spread over an interval, and one of halves."""
    for shape in SHAPES:
        yield OpCase(op, (uniform(rng, shape, low, high),), label(shape))
    yield OpCase(op, (uniform(rng, (3, 37), low, high, np.float16),), "f16_3x37")


def binary(
    rng: Rng, op: Operator, make: Callable[[Rng, tuple[int, ...]], Array] = normal, second: Any = None
) -> Iterator[OpCase]:
    """One case per pair of shapes; `second` makes the other operand where it needs other numbers."""
    for a, b in PAIRS:
        yield OpCase(op, (make(rng, a), (second or make)(rng, b)), label(a, "with", b))
    half = (make(rng, (5, 33)).astype(np.float16), (second or make)(rng, (33,)).astype(np.float16))
    yield OpCase(op, half, "f16_5x33_with_33")
    yield OpCase(op, (make(rng, (2, 3, 7)), (second or make)(rng, (7,))), "constant_row", (1,))


def binary_integers(
    rng: Rng, op: Operator, low: int = -50, high: int = 50, second_low: int | None = None
) -> Iterator[OpCase]:
    for dtype in (np.int32, np.int64):
        for a, b in (((17,), (17,)), ((3, 5), ()), ((2, 1, 7), (3, 1))):
            first = integers(rng, a, low, high, dtype)
            second = integers(rng, b, low if second_low is None else second_low, high, dtype)
            yield OpCase(op, (first, second), label(np.dtype(dtype).name, a, "with", b))


# Shape, axes, keepdims: outer, inner, middle and all axes, none at all, and both spatial ones.
REDUCTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], bool], ...] = (
    ((), (), False),
    ((17,), (0,), True),
    ((17,), (0,), False),
    ((1023,), (0,), False),
    ((1,), (0,), False),
    ((3, 5), (), True),
    ((3, 5), (0,), True),
    ((3, 5), (1,), False),
    ((31, 33), (0,), False),
    ((31, 33), (1,), True),
    ((31, 33), (0, 1), False),
    ((2, 3, 5), (1,), True),
    ((2, 3, 5), (0, 2), False),
    ((1, 13, 1), (0, 2), True),
    ((1, 7, 7, 16), (1, 2), True),
    ((1, 7, 7, 16), (1, 2), False),
    ((2, 5, 7, 3), (1, 2), True),
    ((2, 5, 7, 3), (3,), False),
    ((2, 5, 7, 3), (0, 1, 2, 3), True),
    ((2, 5, 7, 3), (0, 3), False),
    ((2, 1, 3, 1, 5), (1, 2, 4), True),
    ((3, 2, 2, 2, 7), (0, 2), False),
)

# Large enough to be cut into parts: along the folded positions, along the outputs, and both.
LARGE_REDUCTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], bool], ...] = (
    ((1, 61, 23, 37), (1, 2), True),
    ((1, 20011), (1,), False),
    ((3, 67, 601), (1,), False),
    ((2, 129, 131), (2,), True),
    ((5003, 5), (0,), False),
    ((2, 31, 3, 211), (1, 3), False),
)
