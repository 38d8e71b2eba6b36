"""Cases of split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.split import Split
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((7,), 0, (7,)),
    ((7,), 0, (1, 6)),
    ((17,), 0, (5, 5, 7)),
    ((64,), 0, (32, 32)),
    ((3, 5), 0, (1, 2)),
    ((3, 5), 1, (4, 1)),
    ((31, 33), 1, (11, 11, 11)),
    ((31, 33), 0, (16, 15)),
    ((2, 3, 5), 0, (1, 1)),
    ((2, 3, 5), 1, (1, 1, 1)),
    ((2, 3, 5), 2, (2, 3)),
    ((1, 13, 1), 1, (1, 3, 9)),
    ((1, 4, 4, 8), 3, (4, 4)),
    ((1, 4, 4, 8), 3, (1, 2, 5)),
    ((2, 5, 7, 3), 1, (2, 3)),
    ((2, 5, 7, 3), 2, (1, 5, 1)),
    ((2, 5, 7, 4), 3, (1, 1, 1, 1)),
    ((2, 1, 3, 1, 5), 2, (1, 2)),
    ((3, 2, 2, 2, 7), 4, (3, 4)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, axis, sizes in _CASES:
        yield OpCase(Split(axis, sizes), (normal(rng, shape),), label(shape, "along", axis, "sizes", sizes))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(Split(1, (2, 3)), (integers(rng, (3, 5), 0, 99, dtype),), np.dtype(dtype).name)
