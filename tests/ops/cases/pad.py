"""Cases of pad."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.pad import Pad
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, before, after; the borders are narrow enough for reflections.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((17,), (0,), (0,)),
    ((17,), (3,), (5,)),
    ((2,), (1,), (1,)),
    ((3, 5), (1, 2), (2, 4)),
    ((31, 33), (0, 7), (1, 0)),
    ((2, 3, 5), (1, 0, 4), (0, 2, 1)),
    ((1, 13, 3), (0, 12, 1), (0, 0, 2)),
    ((1, 7, 7, 3), (0, 1, 1, 0), (0, 1, 1, 0)),
    ((2, 5, 7, 3), (1, 2, 3, 1), (0, 4, 1, 2)),
    ((2, 2, 3, 2, 5), (1, 0, 2, 0, 4), (0, 1, 1, 0, 3)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for mode in ("constant", "reflect", "edge", "wrap"):
        for shape, before, after in _CASES:
            value = 0.75 if mode == "constant" and len(shape) % 2 else 0.0
            name = label(mode, shape, "before", before, "after", after)
            yield OpCase(Pad(before, after, mode, value), (normal(rng, shape),), name)
    yield OpCase(Pad((), (), "constant", 0.0), (normal(rng, ()),), "scalar")
    yield OpCase(Pad((2,), (3,), "constant", -np.inf), (normal(rng, (5,)),), "infinite")
    yield OpCase(Pad((4, 9), (7, 1), "edge", 0.0), (normal(rng, (1, 2)),), "edge_wider_than_the_input")
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        op = Pad((1, 0), (2, 3), "constant", 7.0)
        yield OpCase(op, (integers(rng, (3, 5), 0, 99, dtype),), np.dtype(dtype).name)
    for shape, behind in (((6, 24), 4), ((2, 3, 5), 2), ((3, 7), 1), ((1, 5, 4), 4), ((5, 4), 5)):
        op = Pad((0,) * len(shape), (0,) * (len(shape) - 1) + (behind,), "constant", 0.5)
        yield OpCase(op, (normal(rng, shape),), label("rows", shape, "behind", behind))
