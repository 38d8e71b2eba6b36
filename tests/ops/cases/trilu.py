"""Cases of trilu."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import helper

from buildtool.ir.operator import Array
from buildtool.ops.trilu import Trilu
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_SHAPES = ((1, 1), (1, 7), (7, 1), (5, 5), (3, 8), (31, 33), (2, 3, 5), (2, 1, 9, 4), (1, 2, 2, 6, 6), (3, 0, 5))


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    if case.inputs[0].dtype in (np.float32, np.int64, np.bool_):
        yield "Trilu", (case.inputs[0], np.array(op.k)), {"upper": int(op.upper)}
    else:  # types that the runtime does not take
        yield "Trilu", (case.inputs[0].astype(np.int64), np.array(op.k)), {"upper": int(op.upper)}
        yield "Cast", (), {"to": helper.np_dtype_to_tensor_dtype(case.inputs[0].dtype)}


def cases(rng: Rng) -> Iterator[OpCase]:
    for upper in (True, False):
        for number, shape in enumerate(_SHAPES):
            k = number % 5 - 2
            name = label("upper" if upper else "lower", shape, "from", k)
            yield OpCase(Trilu(upper, k), (normal(rng, shape),), name)
        for k in (-100, 100, -(2**31), 2**31 - 1):
            name = label("upper" if upper else "lower", "from", k)
            yield OpCase(Trilu(upper, k), (normal(rng, (4, 6)),), name)
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(Trilu(True, 1), (integers(rng, (5, 7), 1, 99, dtype),), np.dtype(dtype).name)
    yield OpCase(Trilu(False, 0), (np.ones((5, 5), np.bool_),), "bool")
