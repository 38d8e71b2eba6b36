"""Cases of concat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.concat import Concat
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape of the first input, axis, and the sizes of all inputs along it.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((1,), 0, (1, 1)),
    ((7,), 0, (7, 3, 1, 17)),
    ((64,), 0, (64, 32)),
    ((3, 5), 0, (3, 1)),
    ((3, 5), 1, (5, 7, 2)),
    ((31, 33), 1, (33, 31)),
    ((1, 1), 1, (1, 1, 1, 1, 1)),
    ((2, 3, 5), 0, (2, 1)),
    ((2, 3, 5), 1, (3, 4)),
    ((2, 3, 5), 2, (5, 1, 9)),
    ((1, 13, 1), 2, (1, 16)),
    ((1, 4, 4, 8), 3, (8, 8)),
    ((1, 4, 4, 8), 3, (8, 3, 5, 1)),
    ((2, 5, 7, 3), 1, (5, 2)),
    ((2, 5, 7, 3), 2, (7, 1)),
    ((2, 5, 7, 3), 0, (2, 3)),
    ((2, 1, 3, 1, 5), 3, (1, 4)),
    ((3, 2, 2, 2, 7), 4, (7, 7)),
    ((1, 2, 3, 5, 11), 1, (2, 1, 2)),
)


def _inputs(rng: Rng, shape: tuple[int, ...], axis: int, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(normal(rng, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, axis, sizes in _CASES:
        yield OpCase(Concat(axis), _inputs(rng, shape, axis, sizes), label(shape, "along", axis, "sizes", sizes))
    yield OpCase(Concat(1), _inputs(rng, (3, 5), 1, (5, 7)), "constant_first", (0,))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        inputs = (integers(rng, (3, 5), 0, 99, dtype), integers(rng, (3, 2), 0, 99, dtype))
        yield OpCase(Concat(1), inputs, np.dtype(dtype).name)
