"""Cases of topk_by_input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ir.operator import Array
from buildtool.ops.topk_by_input import TopkByInput
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, axis, k.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1,), 0, 1),
    ((17,), 0, 0),
    ((17,), 0, 17),
    ((1023,), 0, 100),
    ((3, 5), 0, 2),
    ((31, 33), 1, 33),
    ((2, 3, 5), 1, 2),
    ((2, 5, 7, 3), 2, 4),
    ((2, 1, 3, 1, 5), 4, 2),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    yield "TopK", case.inputs, {"axis": op.axis, "largest": int(op.largest), "count": 2}


def cases(rng: Rng) -> Iterator[OpCase]:
    for largest in (True, False):
        word = "largest" if largest else "smallest"
        for shape, axis, k in _CASES:
            op = TopkByInput(axis=axis, largest=largest, size=(symbol("found", 0, shape[axis]),))
            yield OpCase(op, (normal(rng, shape), np.array([k])), label(word, shape, "along", axis, "of", k))
        op = TopkByInput(axis=1, largest=largest, size=(symbol("found", 0, 40),))
        for dtype in (np.float32, np.int32, np.int64, np.float64):  # many that are equal
            inputs = (integers(rng, (5, 40), -3, 4, dtype), np.array([13]))
            yield OpCase(op, inputs, label(word, "ties", np.dtype(dtype).name))
