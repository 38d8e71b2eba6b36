"""Cases of slice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.slice import Slice
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, starts, steps, sizes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((), (), (), ()),
    ((1,), (0,), (1,), (1,)),
    ((17,), (0,), (1,), (17,)),
    ((17,), (3,), (1,), (7,)),
    ((17,), (16,), (-1,), (17,)),
    ((17,), (1,), (3,), (6,)),
    ((17,), (15,), (-4,), (4,)),
    ((1023,), (511,), (1,), (512,)),
    ((3, 5), (1, 0), (1, 1), (2, 5)),
    ((3, 5), (0, 2), (1, 1), (3, 3)),
    ((31, 33), (1, 1), (2, 2), (15, 16)),
    ((31, 33), (30, 0), (-1, 1), (31, 33)),
    ((31, 33), (0, 32), (1, -3), (31, 11)),
    ((2, 3, 5), (1, 1, 1), (1, 1, 1), (1, 2, 4)),
    ((1, 13, 1), (0, 12, 0), (1, -2, 1), (1, 7, 1)),
    ((1, 9, 9, 17), (0, 0, 0, 0), (1, 2, 2, 1), (1, 5, 5, 17)),
    ((1, 9, 9, 17), (0, 1, 2, 3), (1, 1, 1, 1), (1, 7, 5, 13)),
    ((2, 5, 7, 3), (0, 0, 0, 2), (1, 1, 1, -1), (2, 5, 7, 3)),
    ((2, 5, 7, 3), (1, 4, 6, 0), (-1, -2, -3, 2), (2, 3, 3, 2)),
    ((2, 1, 3, 1, 5), (0, 0, 1, 0, 1), (1, 1, 1, 1, 2), (2, 1, 2, 1, 2)),
    ((3, 2, 2, 2, 7), (2, 0, 1, 0, 6), (-1, 1, -1, 1, -2), (3, 2, 2, 1, 4)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, starts, steps, sizes in _CASES:
        name = label(shape, "from", starts, "by", steps, "for", sizes)
        yield OpCase(Slice(starts, steps, sizes), (normal(rng, shape),), name)
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        op = Slice((2, 1), (-1, 2), (3, 2))
        yield OpCase(op, (integers(rng, (3, 5), 0, 99, dtype),), np.dtype(dtype).name)
