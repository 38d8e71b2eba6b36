"""Cases of tensor_scatter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.tensor_scatter import TensorScatter
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape of the cache, axis, elements of the update.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1, 1), 1, 1),
    ((1, 17), 1, 5),
    ((3, 17), 1, 17),
    ((2, 8, 5), 1, 3),
    ((2, 3, 5), 2, 2),
    ((4, 7, 1), 1, 1),
    ((1, 31, 33), 1, 13),
    ((2, 4, 9, 8), 2, 1),
    ((2, 4, 9, 8), 2, 9),
    ((3, 2, 5, 7), 3, 4),
    ((2, 1, 3, 6, 5), 3, 2),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """The operator is newer than the other forms: each element is placed by an index of its own."""
    cache, update, *starts = case.inputs
    op: Any = case.op
    start = starts[0].astype(np.int64) if starts else np.zeros(cache.shape[0], np.int64)
    places = (start[:, None] + np.arange(update.shape[op.axis])) % cache.shape[op.axis]
    wide = places.reshape([size if axis in (0, op.axis) else 1 for axis, size in enumerate(update.shape)])
    yield "ScatterElements", (cache, np.broadcast_to(wide, update.shape), update), {"axis": op.axis}


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, axis, count) in enumerate(_CASES):
        update = (*shape[:axis], count, *shape[axis + 1 :])
        pair = (normal(rng, shape), normal(rng, update))
        kind = np.int64 if number % 2 else np.int32
        starts = integers(rng, shape[:1], 0, shape[axis] - count + 1, kind)
        held = (2,) if number % 3 == 0 else ()
        yield OpCase(TensorScatter(axis, False), (*pair, starts), label("linear", shape, axis, count), held)
        turned = integers(rng, shape[:1], 0, 3 * shape[axis], kind)
        yield OpCase(TensorScatter(axis, True), (*pair, turned), label("circular", shape, axis, count), held)
    yield OpCase(TensorScatter(1, False), (normal(rng, (2, 5, 3)), normal(rng, (2, 2, 3))), "without_starts")
    for dtype in (np.int8, np.int64, np.float16):
        pair = (integers(rng, (2, 7, 3), 0, 99, dtype), integers(rng, (2, 4, 3), 0, 99, dtype))
        yield OpCase(TensorScatter(1, True), (*pair, np.array([6, 2])), np.dtype(dtype).name)
