"""Cases of reshape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.reshape import Reshape
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((), (1,)),
    ((1,), ()),
    ((1,), (1, 1, 1)),
    ((17,), (17,)),
    ((17,), (1, 17)),
    ((64,), (8, 8)),
    ((3, 5), (15,)),
    ((3, 5), (5, 3)),
    ((31, 33), (33, 31)),
    ((2, 3, 5), (6, 5)),
    ((2, 3, 5), (2, 15)),
    ((1, 13, 1), (13,)),
    ((13,), (1, 1, 13, 1)),
    ((1, 4, 4, 8), (1, 128)),
    ((2, 5, 7, 3), (2, 35, 3)),
    ((2, 5, 7, 3), (2, 1, 5, 7, 3)),
    ((2, 35, 3), (2, 5, 7, 3)),
    ((2, 1, 3, 1, 5), (2, 3, 5)),
    ((3, 2, 2, 2, 7), (3, 8, 7)),
    ((1, 2, 3, 5, 11), (330,)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for before, after in _CASES:
        yield OpCase(Reshape(after), (normal(rng, before),), label(before, "to", after))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(Reshape((5, 3)), (integers(rng, (3, 5), 0, 99, dtype),), np.dtype(dtype).name)
