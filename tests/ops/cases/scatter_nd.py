"""Cases of scatter_nd."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.scatter_nd import ScatterNd
from tests.ops.case import OpCase
from tests.ops.cases.gather_nd import rows_of_indices
from tests.ops.inputs import Rng, integers, label, normal

ONNX = ("ScatterND", "reduction")

# Shape, shape of the indices.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), (1,)),
    ((17,), (5, 1)),
    ((17,), (40, 1)),
    ((3, 5), (2,)),
    ((3, 5), (7, 2)),
    ((3, 5), (7, 1)),
    ((31, 33), (5, 1)),
    ((2, 3, 5), (4, 3)),
    ((2, 3, 5), (2, 4, 2)),
    ((2, 5, 7, 3), (4, 1)),
    ((2, 5, 7, 3), (6, 3)),
    ((3, 2, 2, 2, 7), (3, 4)),
    ((3, 5), (0, 2)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, indices) in enumerate(_CASES):
        for reduction in ("none", "add", "mul", "min", "max"):
            depth = indices[-1]
            places = rows_of_indices(rng, indices, shape[:depth], np.int64 if number % 2 else np.int32)
            inputs = (normal(rng, shape), places, normal(rng, (*indices[:-1], *shape[depth:])))
            yield OpCase(
                ScatterNd(reduction), inputs, label(reduction, shape, "at", indices), (1,) if number % 3 == 0 else ()
            )
    for dtype in (np.int8, np.uint8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float64):
        places = rows_of_indices(rng, (7, 1), (11,), np.int64)
        # onnxruntime does not reduce halves.
        for reduction in ("none",) if dtype is np.float16 else ("none", "add", "mul", "min", "max"):
            inputs = (integers(rng, (11, 5), 0, 9, dtype), places, integers(rng, (7, 5), 0, 9, dtype))
            yield OpCase(ScatterNd(reduction), inputs, label(np.dtype(dtype).name, reduction))
