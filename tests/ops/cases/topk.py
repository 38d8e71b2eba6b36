"""Cases of topk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.topk import Topk
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, axis, k.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1,), 0, 1),
    ((17,), 0, 1),
    ((17,), 0, 17),
    ((1023,), 0, 100),
    ((3, 5), 0, 2),
    ((3, 5), 1, 3),
    ((31, 33), 0, 7),
    ((31, 33), 1, 33),
    ((4, 128), 1, 5),
    ((2, 3, 5), 1, 2),
    ((2, 3, 5), 0, 1),
    ((2, 5, 7, 3), 2, 4),
    ((2, 1, 3, 1, 5), 4, 2),
    ((3, 5), 1, 0),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    yield "TopK", (case.inputs[0], np.array(op.k)), {"axis": op.axis, "largest": int(op.largest), "count": 2}


def cases(rng: Rng) -> Iterator[OpCase]:
    for largest in (True, False):
        word = "largest" if largest else "smallest"
        for shape, axis, k in _CASES:
            yield OpCase(Topk(axis, (k,), largest), (normal(rng, shape),), label(word, shape, "along", axis, "of", k))
        for dtype in (np.float32, np.int32, np.int64):  # many that are equal
            inputs = (integers(rng, (5, 40), -3, 4, dtype),)
            yield OpCase(Topk(1, (13,), largest), inputs, label(word, "ties", np.dtype(dtype).name))
        for dtype in (np.float16, np.float64, np.int8, np.int16):  # the rarer types
            yield OpCase(
                Topk(0, (4,), largest), (integers(rng, (11, 3), -90, 90, dtype),), label(word, np.dtype(dtype).name)
            )
        for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
            yield OpCase(
                Topk(0, (4,), largest), (integers(rng, (11, 3), 0, 250, dtype),), label(word, np.dtype(dtype).name)
            )
        odd = np.array([[1, np.nan, -np.inf, 3, np.nan, np.inf, -0.0, 0.0, 3]], np.float32)
        yield OpCase(Topk(1, (9,), largest), (odd,), label(word, "not_a_number"))
