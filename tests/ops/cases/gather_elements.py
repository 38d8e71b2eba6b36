"""Cases of gather_elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.gather_elements import GatherElements
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

ONNX = ("GatherElements", "axis")

# Shape, axis, shape of the indices.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((17,), 0, (1,)),
    ((17,), 0, (17,)),
    ((17,), 0, (1023,)),
    ((3, 5), 0, (3, 5)),
    ((3, 5), 1, (3, 5)),
    ((3, 5), 0, (7, 5)),
    ((3, 5), 1, (2, 11)),
    ((31, 33), 0, (2, 33)),
    ((31, 33), 1, (31, 2)),
    ((31, 33), 0, (5, 3)),
    ((2, 3, 5), 0, (1, 3, 5)),
    ((2, 3, 5), 1, (2, 7, 4)),
    ((2, 3, 5), 2, (2, 3, 1)),
    ((1, 13, 1), 1, (1, 29, 1)),
    ((2, 5, 7, 3), 1, (2, 2, 7, 3)),
    ((2, 5, 7, 3), 3, (1, 5, 6, 4)),
    ((2, 5, 7, 3), 0, (3, 5, 7, 3)),
    ((2, 1, 3, 1, 5), 2, (2, 1, 4, 1, 5)),
    ((3, 2, 2, 2, 7), 4, (3, 2, 2, 2, 3)),
    ((3, 5), 1, (3, 0)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, axis, indices) in enumerate(_CASES):
        size = shape[axis]
        picked = integers(rng, indices, -size, size, np.int64 if number % 2 else np.int32)
        name = label(shape, "along", axis, "at", indices)
        yield OpCase(GatherElements(axis), (normal(rng, shape), picked), name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        inputs = (integers(rng, (11, 5), 0, 99, dtype), integers(rng, (7, 5), -11, 11, np.int64))
        yield OpCase(GatherElements(0), inputs, np.dtype(dtype).name)
