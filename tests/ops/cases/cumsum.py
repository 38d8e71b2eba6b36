"""Cases of cumsum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.cumsum import Cumsum
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, integers, label, normal


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, int]]]:
    op: Any = case.op
    axis = np.array(op.axis, np.int64)
    yield "CumSum", (*case.inputs, axis), {"exclusive": int(op.exclusive), "reverse": int(op.reverse)}


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        op = Cumsum(number % len(shape), bool(number & 1), bool(number & 2))
        yield OpCase(op, (normal(rng, shape),), label(shape, "along", op.axis, number & 1, number & 2))
    for dtype in (np.float16, np.float64, np.int32, np.int64, np.uint32, np.uint64, np.int8):
        for reverse in (False, True):
            numbers = integers(rng, (3, 7, 5), 0, 9, dtype)
            yield OpCase(Cumsum(1, not reverse, reverse), (numbers,), label(np.dtype(dtype).name, reverse))
    yield OpCase(Cumsum(0, False, False), (np.full(40, 2**30, np.int32),), "wraps_around")
