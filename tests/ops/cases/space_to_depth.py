"""Cases of space_to_depth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.space_to_depth import SpaceToDepth
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, block.
_CASES: tuple[tuple[tuple[int, int, int, int], int], ...] = (
    ((1, 1, 1, 1), 1),
    ((1, 2, 2, 1), 2),
    ((1, 4, 6, 1), 2),
    ((2, 6, 10, 3), 2),
    ((1, 14, 2, 5), 2),
    ((1, 8, 8, 64), 2),
    ((1, 9, 15, 1), 3),
    ((2, 15, 9, 7), 3),
    ((1, 12, 8, 2), 4),
    ((1, 10, 5, 3), 5),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for mode in ("DCR", "CRD"):
        for shape, block in _CASES:
            yield OpCase(SpaceToDepth(block, mode), (normal(rng, shape),), label(mode, shape, "by", block))
        for dtype in (np.int8, np.int64, np.float16):
            inputs = (integers(rng, (1, 4, 6, 3), 0, 99, dtype),)
            yield OpCase(SpaceToDepth(2, mode), inputs, label(mode, np.dtype(dtype).name))
