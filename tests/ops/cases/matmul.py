"""Cases of matmul."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.matmul import Matmul
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1, 1), (1, 1)),
    ((3, 5), (5, 7)),
    ((1, 17), (17, 13)),
    ((16, 16), (16, 16)),
    ((31, 33), (33, 29)),
    ((64, 32), (32, 48)),
    ((7, 1), (1, 9)),
    ((2, 259), (259, 3)),
    ((17,), (17,)),
    ((17,), (17, 5)),
    ((5, 17), (17,)),
    ((5,), (3, 5, 7)),
    ((2, 3, 5), (5,)),
    ((2, 3, 5), (5, 7)),
    ((3, 5), (2, 5, 7)),
    ((2, 3, 5), (2, 5, 7)),
    ((1, 3, 5), (4, 5, 7)),
    ((2, 1, 3, 5), (4, 5, 7)),
    ((2, 3, 4, 5), (2, 3, 5, 6)),
    ((1, 3, 4, 5), (2, 1, 5, 6)),
    ((2, 1, 3, 1, 5), (1, 2, 1, 5, 3)),
    ((67, 131), (131, 19)),
    ((5, 1031), (1031, 33)),
    ((9, 7, 13), (9, 13, 24)),
    ((3, 3, 17, 8), (3, 8, 31)),
    ((2, 3, 67), (67, 1)),
    ((1, 37), (37, 259)),
    ((4, 9), (9, 101)),
    ((3, 31), (31, 149)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in _PAIRS:
        yield OpCase(Matmul(), (normal(rng, a), normal(rng, b)), label(a, "by", b))
    yield OpCase(Matmul(), (normal(rng, (5, 37)), normal(rng, (37, 11))), "constant_right", (1,))
    yield OpCase(Matmul(), (normal(rng, (3, 7, 37)), normal(rng, (1, 37, 43))), "constant_right_for_batches", (1,))
    yield OpCase(Matmul(), (normal(rng, (3, 7, 37)), normal(rng, (3, 37, 11))), "constant_batches", (1,))
    yield OpCase(Matmul(), (normal(rng, (5, 37)), normal(rng, (37, 11))), "constant_left", (0,))
    yield OpCase(Matmul(), (normal(rng, (5, 37), np.float16), normal(rng, (37, 11), np.float16)), "f16")
    for batches in (((2, 3, 5), (2, 5, 7)), ((2, 1, 3, 5), (3, 5, 2))):
        for dtype in (np.float16, np.int32, np.float64):
            inputs = (integers(rng, batches[0], -9, 9, dtype), integers(rng, batches[1], -9, 9, dtype))
            yield OpCase(Matmul(), inputs, label(np.dtype(dtype).name, batches[0], "by", batches[1]))
    for dtype in (np.int32, np.int64, np.uint32, np.uint64, np.float64):
        inputs = (integers(rng, (3, 5), -9, 9, dtype), integers(rng, (5, 7), -9, 9, dtype))
        yield OpCase(Matmul(), inputs, np.dtype(dtype).name)
