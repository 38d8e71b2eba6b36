"""Cases of reverse_sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.reverse_sequence import ReverseSequence
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, axis of the batch, axis of time.
_CASES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1, 1), 0, 1),
    ((1, 17), 0, 1),
    ((17, 1), 0, 1),
    ((4, 4), 0, 1),
    ((4, 4), 1, 0),
    ((3, 5), 0, 1),
    ((3, 5), 1, 0),
    ((31, 33), 0, 1),
    ((31, 33), 1, 0),
    ((2, 3, 5), 0, 1),
    ((2, 3, 5), 1, 0),
    ((2, 3, 5), 1, 2),
    ((2, 3, 5), 2, 1),
    ((2, 3, 5), 0, 2),
    ((2, 3, 5), 2, 0),
    ((1, 13, 1), 0, 1),
    ((2, 5, 7, 3), 0, 1),
    ((2, 5, 7, 3), 1, 3),
    ((2, 5, 7, 3), 3, 0),
    ((2, 1, 3, 1, 5), 0, 4),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """ONNX has time and batch in front: the other axes go behind them and back."""
    x, lengths = case.inputs
    op: Any = case.op
    order = (
        op.time_axis,
        op.batch_axis,
        *(axis for axis in range(x.ndim) if axis not in (op.time_axis, op.batch_axis)),
    )
    yield "ReverseSequence", (x.transpose(order), lengths.astype(np.int64)), {"time_axis": 0, "batch_axis": 1}
    yield "Transpose", (), {"perm": tuple(order.index(axis) for axis in range(x.ndim))}


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, batch, time) in enumerate(_CASES):
        lengths = integers(rng, (shape[batch],), 0, shape[time] + 1, np.int64 if number % 2 else np.int32)
        name = label(shape, "batch", batch, "time", time)
        yield OpCase(ReverseSequence(batch, time), (normal(rng, shape), lengths), name, (1,) if number % 3 == 0 else ())
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        inputs = (integers(rng, (3, 5), 0, 99, dtype), np.array([5, 0, 3]))
        yield OpCase(ReverseSequence(0, 1), inputs, np.dtype(dtype).name)
