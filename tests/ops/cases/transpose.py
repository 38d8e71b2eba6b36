"""Cases of transpose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.transpose import Transpose
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((1,), (0,)),
    ((17,), (0,)),
    ((1, 1), (1, 0)),
    ((3, 5), (0, 1)),
    ((3, 5), (1, 0)),
    ((31, 33), (1, 0)),
    ((64, 48), (1, 0)),
    ((2, 3, 5), (0, 2, 1)),
    ((2, 3, 5), (2, 1, 0)),
    ((2, 3, 5), (1, 2, 0)),
    ((1, 13, 1), (2, 0, 1)),
    ((1, 3, 7, 7), (0, 2, 3, 1)),
    ((1, 7, 7, 3), (0, 3, 1, 2)),
    ((2, 5, 7, 3), (0, 3, 1, 2)),
    ((2, 5, 7, 3), (3, 2, 1, 0)),
    ((2, 16, 8, 8), (0, 2, 3, 1)),
    ((1, 9, 9, 17), (0, 2, 1, 3)),
    ((2, 1, 3, 1, 5), (4, 0, 2, 1, 3)),
    ((3, 2, 2, 2, 7), (0, 4, 1, 2, 3)),
    ((1, 2, 3, 5, 11), (0, 2, 1, 4, 3)),
    ((131, 67), (1, 0)),
    ((3, 301), (1, 0)),
    ((5, 2, 37), (0, 2, 1)),
    ((17, 3, 66), (2, 0, 1)),
    ((3, 13, 3, 2, 5), (2, 0, 3, 1, 4)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, perm in _CASES:
        yield OpCase(Transpose(perm), (normal(rng, shape),), label(shape, "as", perm))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(Transpose((1, 2, 0)), (integers(rng, (3, 5, 7), 0, 99, dtype),), np.dtype(dtype).name)
    for shape, perm in (((3, 301), (1, 0)), ((5, 2, 37), (0, 2, 1)), ((1, 3, 5, 7), (0, 2, 3, 1))):
        yield OpCase(Transpose(perm), (normal(rng, shape, np.float16),), label("f16", shape, "as", perm))
