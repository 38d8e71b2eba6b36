"""Cases of scatter_elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.scatter_elements import ScatterElements
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

ONNX = ("ScatterElements", "axis", "reduction")

# Shape, axis, shape of the indices.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((17,), 0, (5,)),
    ((17,), 0, (40,)),
    ((3, 5), 0, (3, 5)),
    ((3, 5), 1, (2, 9)),
    ((31, 33), 0, (2, 33)),
    ((31, 33), 1, (31, 2)),
    ((2, 3, 5), 1, (2, 7, 4)),
    ((2, 3, 5), 2, (2, 3, 1)),
    ((1, 13, 1), 1, (1, 29, 1)),
    ((2, 5, 7, 3), 3, (1, 5, 6, 4)),
    ((3, 2, 2, 2, 7), 4, (3, 2, 2, 2, 3)),
    ((3, 5), 1, (3, 0)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, axis, indices) in enumerate(_CASES):
        for reduction in ("none", "add", "mul", "min", "max"):
            size = shape[axis]
            places = integers(rng, indices, -size, size, np.int64 if number % 2 else np.int32)
            name = label(reduction, shape, "along", axis, "at", indices)
            inputs = (normal(rng, shape), places, normal(rng, indices))
            yield OpCase(ScatterElements(axis, reduction), inputs, name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float64):
        places = integers(rng, (7, 5), -11, 11, np.int64)
        # onnxruntime does not reduce halves.
        for reduction in ("none",) if dtype is np.float16 else ("none", "add", "mul", "min", "max"):
            inputs = (integers(rng, (11, 5), 0, 9, dtype), places, integers(rng, (7, 5), 0, 9, dtype))
            yield OpCase(ScatterElements(0, reduction), inputs, label(np.dtype(dtype).name, reduction))
