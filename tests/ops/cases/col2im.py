"""Cases of col2im."""

from __future__ import annotations

import math
from collections.abc import Iterator

from buildtool.ops.col2im import Col2im
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

_Ints = tuple[int, ...]
# Batch, channels, image, block, strides, pads, dilations.
_CASES: tuple[tuple[int, int, _Ints, _Ints, _Ints, _Ints, _Ints], ...] = (
    (1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (5, 5), (1, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (5, 5), (5, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
    (2, 3, (7, 5), (3, 3), (1, 1), (0, 0, 0, 0), (1, 1)),
    (2, 3, (7, 5), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (1, 2, (6, 6), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
    (1, 2, (6, 6), (2, 3), (2, 1), (0, 0, 0, 0), (1, 1)),
    (1, 2, (9, 8), (3, 2), (2, 2), (1, 0, 1, 0), (2, 1)),
    (1, 1, (9, 9), (2, 2), (1, 3), (0, 0, 0, 0), (3, 4)),
    (3, 1, (4, 11), (2, 4), (1, 2), (0, 2, 1, 3), (1, 1)),
    (1, 5, (17, 13), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (1, 17, (3, 3), (2, 2), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (17,), (3,), (1,), (1, 1), (1,)),
    (2, 3, (16,), (4,), (4,), (0, 0), (1,)),
    (2, 3, (17,), (2,), (3,), (2, 1), (5,)),
    (1, 2, (3, 4, 5), (1, 1, 5), (1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1)),
    (1, 2, (3, 4, 5), (2, 2, 2), (1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1)),
    (2, 1, (5, 4, 6), (2, 3, 2), (1, 2, 2), (1, 0, 0, 1, 1, 0), (2, 1, 1)),
    (1, 1, (2, 3, 2, 3), (2, 2, 1, 2), (1, 1, 1, 1), (0,) * 8, (1, 1, 1, 1)),
    (1, 3, (7, 7), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (4, 4), (4, 4), (1, 1), (3, 3, 3, 3), (1, 1)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for batch, channels, image, block, strides, pads, dilations in _CASES:
        op = Col2im(image, block, strides, pads, dilations)
        shape = (batch, channels * math.prod(block), math.prod(op.counts()))
        name = label(batch, channels, image, block, strides, pads, dilations)
        yield OpCase(op, (normal(rng, shape),), name)
