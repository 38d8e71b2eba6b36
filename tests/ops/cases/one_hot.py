"""Cases of one_hot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import helper

from buildtool.ir.operator import Array
from buildtool.ops.one_hot import OneHot
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label

# Shape of the indices, axis, depth.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((), 0, 1),
    ((), 0, 17),
    ((1,), 0, 3),
    ((1,), 1, 3),
    ((17,), 0, 5),
    ((17,), 1, 5),
    ((1023,), 1, 2),
    ((3, 5), 0, 7),
    ((3, 5), 1, 7),
    ((3, 5), 2, 7),
    ((31, 33), 2, 11),
    ((31, 33), 0, 1),
    ((2, 3, 5), 0, 4),
    ((2, 3, 5), 1, 4),
    ((2, 3, 5), 3, 64),
    ((1, 13, 1), 2, 13),
    ((2, 5, 7, 3), 4, 3),
    ((2, 5, 7, 3), 2, 3),
    ((2, 1, 3, 1, 5), 5, 2),
    ((0, 3), 1, 4),
    ((4, 9), 2, 10),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array | str, ...], dict[str, Any]]]:
    """The runtime takes no scalars, and few types of values."""
    indices, values = case.inputs
    op: Any = case.op
    shown = values if values.dtype in (np.float32, np.int64) else np.array([0, 1])
    axis = op.axis if indices.ndim else 1
    yield "OneHot", (np.atleast_1d(indices.astype(np.int64)), np.array(op.depth), shown), {"axis": axis}
    if not indices.ndim:
        yield "Reshape", ("out0_0", np.array([op.depth])), {}
    if shown.dtype != values.dtype:
        yield "Cast", (), {"to": helper.np_dtype_to_tensor_dtype(values.dtype)}


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, axis, depth) in enumerate(_CASES):
        indices = integers(rng, shape, -depth - 2, depth + 2, np.int64 if number % 2 else np.int32)
        values = np.array([0, 1], np.float32) if number % 4 else np.array([-0.5, 2.5], np.float32)
        name = label(shape, "at", axis, "of", depth)
        yield OpCase(OneHot(axis, depth), (indices, values), name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16, np.bool_):
        values = np.array([0, 1], dtype)
        yield OpCase(OneHot(1, 4), (integers(rng, (5,), 0, 4, np.int64), values), np.dtype(dtype).name)
