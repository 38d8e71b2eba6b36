"""Cases of gather."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.gather import Gather
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, axis, shape of the indices.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, ()),
    ((17,), 0, ()),
    ((17,), 0, (1,)),
    ((17,), 0, (23,)),
    ((17,), 0, (3, 5)),
    ((3, 5), 0, ()),
    ((3, 5), 1, ()),
    ((3, 5), 0, (7,)),
    ((3, 5), 1, (7,)),
    ((31, 33), 0, (2, 3)),
    ((31, 33), 1, (2, 3)),
    ((259, 16), 0, (13,)),
    ((2, 3, 5), 0, (2,)),
    ((2, 3, 5), 1, (4,)),
    ((2, 3, 5), 2, (2, 2)),
    ((1, 13, 1), 1, (5, 1)),
    ((2, 5, 7, 3), 1, (2,)),
    ((2, 5, 7, 3), 3, ()),
    ((2, 5, 7, 3), 2, (1, 3)),
    ((2, 1, 3, 1, 5), 2, (3,)),
    ((3, 2, 2, 2, 7), 4, ()),
    ((37, 29, 19), 2, (23,)),
    ((3, 7, 2, 58), 3, (58,)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, axis, indices) in enumerate(_CASES):
        dtype = np.int64 if number % 2 else np.int32
        size = shape[axis]
        picked = integers(rng, indices, -size, size, dtype)
        name = label(number, shape, "along", axis, "at", indices)
        yield OpCase(Gather(axis), (normal(rng, shape), picked), name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):  # type: ignore[assignment]
        inputs = (integers(rng, (11, 5), 0, 99, dtype), integers(rng, (7,), -11, 11, np.int64))
        yield OpCase(Gather(0), inputs, np.dtype(dtype).name)
    yield OpCase(Gather(0), (normal(rng, (19, 8)), integers(rng, (3, 2), 0, 19)), "constant_table", (0,))
    # Channels that alternate between two stretches, as where they are shuffled.
    for dtype in (np.float32, np.float16, np.uint8, np.int64):  # type: ignore[assignment]
        for first, second, count in ((0, 29, 58), (1, 35, 37), (40, 3, 8), (2, 9, 4), (0, 1, 6)):
            places = np.array([(second if i % 2 else first) + i // 2 for i in range(count)], np.int32)
            name = label("alternating", np.dtype(dtype).name, first, second, count)
            yield OpCase(Gather(1), (integers(rng, (5, 61), 0, 99, dtype), places), name, (1,))
