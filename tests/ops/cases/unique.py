"""Cases of unique."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ir.operator import Array
from buildtool.ops.unique import Unique
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label

# Shape, axis.
_CASES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1,), 0),
    ((17,), 0),
    ((64,), 0),
    ((1023,), 0),
    ((13, 1), 0),
    ((9, 2), 0),
    ((2, 11), 1),
    ((3, 5), 0),
    ((2, 13, 1), 1),
    ((1, 2, 19), 2),
    ((2, 1, 3, 1, 2), 2),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """The runtime knows few types; the numbers of the cases are small and whole."""
    op: Any = case.op
    yield "Unique", case.inputs, {"axis": op.axis, "sorted": int(op.sorted), "count": 4}


def cases(rng: Rng) -> Iterator[OpCase]:
    for rises in (True, False):
        word = "sorted" if rises else "found"
        for shape, axis in _CASES:
            op = Unique(axis=axis, sorted=rises, size=(symbol("found", 0, shape[axis]),))
            yield OpCase(op, (integers(rng, shape, -2, 3, np.float32),), label(word, shape, "along", axis))
        op = Unique(axis=0, sorted=rises, size=(symbol("found", 0, 29),))
        for dtype in (np.int8, np.int64, np.float64):
            yield OpCase(op, (integers(rng, (29,), -5, 5, dtype),), label(word, np.dtype(dtype).name))
