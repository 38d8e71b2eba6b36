"""Cases of compress."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ops.compress import Compress
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

ONNX = ("Compress", "axis")

# Shape, axis, length of the condition.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1,), 0, 1),
    ((17,), 0, 17),
    ((17,), 0, 5),
    ((1023,), 0, 1023),
    ((3, 5), 0, 3),
    ((3, 5), 1, 5),
    ((3, 5), 1, 2),
    ((31, 33), 0, 31),
    ((31, 33), 1, 33),
    ((2, 3, 5), 0, 2),
    ((2, 3, 5), 1, 3),
    ((2, 3, 5), 2, 4),
    ((1, 13, 1), 1, 13),
    ((2, 5, 7, 3), 2, 7),
    ((2, 5, 7, 3), 3, 3),
    ((2, 1, 3, 1, 5), 4, 5),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, axis, count in _CASES:
        op = Compress(axis=axis, size=(symbol("found", 0, count),))
        condition = integers(rng, (count,), 0, 2, np.bool_)
        yield OpCase(op, (normal(rng, shape), condition), label(shape, "along", axis, "by", count))
    op = Compress(axis=1, size=(symbol("found", 0, 5),))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16, np.bool_):
        inputs = (integers(rng, (3, 5), 0, 2, dtype), np.array([True, False, True, True, False]))
        yield OpCase(op, inputs, np.dtype(dtype).name)
    for value in (True, False):
        yield OpCase(op, (normal(rng, (3, 5)), np.full(5, value)), "all" if value else "none")
