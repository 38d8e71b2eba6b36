"""Cases of gather_nd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.gather_nd import GatherNd
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

ONNX = ("GatherND", "batch_dims")

# Shape, batch axes, shape of the indices.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((1,), 0, (1,)),
    ((17,), 0, (1,)),
    ((17,), 0, (23, 1)),
    ((3, 5), 0, (2,)),
    ((3, 5), 0, (7, 2)),
    ((3, 5), 0, (7, 1)),
    ((3, 5), 0, (2, 3, 2)),
    ((31, 33), 0, (5, 1)),
    ((31, 33), 1, (31, 1)),
    ((31, 33), 1, (31, 4, 1)),
    ((2, 3, 5), 0, (4, 3)),
    ((2, 3, 5), 0, (4, 2)),
    ((2, 3, 5), 1, (2, 2)),
    ((2, 3, 5), 1, (2, 4, 1)),
    ((2, 3, 5), 2, (2, 3, 1)),
    ((2, 3, 5), 2, (2, 3, 7, 1)),
    ((2, 5, 7, 3), 0, (4, 1)),
    ((2, 5, 7, 3), 1, (2, 4, 2)),
    ((2, 5, 7, 3), 2, (2, 5, 2)),
    ((2, 1, 3, 1, 5), 1, (2, 3, 3)),
    ((3, 2, 2, 2, 7), 3, (3, 2, 2, 1)),
    ((3, 5), 0, (0, 2)),
)


def rows_of_indices(rng: Rng, shape: tuple[int, ...], sizes: Sequence[int], dtype: type) -> Array:
    """Rows that lead into axes of these sizes, from the start or from the end."""
    columns = [integers(rng, shape[:-1], -size, size, dtype) for size in sizes]
    return np.stack(columns, axis=-1)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, batch, indices) in enumerate(_CASES):
        sizes = shape[batch : batch + indices[-1]]
        picked = rows_of_indices(rng, indices, sizes, np.int64 if number % 2 else np.int32)
        name = label(shape, "behind", batch, "at", indices)
        yield OpCase(GatherNd(batch), (normal(rng, shape), picked), name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        inputs = (integers(rng, (11, 5), 0, 99, dtype), rows_of_indices(rng, (7, 2), (11, 5), np.int64))
        yield OpCase(GatherNd(0), inputs, np.dtype(dtype).name)
