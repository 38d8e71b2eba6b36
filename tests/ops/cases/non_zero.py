"""Cases of non_zero."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ir.operator import Array
from buildtool.ops.non_zero import NonZero
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, integers, label

ONNX = ("NonZero",)
_TYPES = (np.int8, np.uint8, np.int16, np.uint32, np.int32, np.int64, np.float16, np.float64, np.bool_)


def _case(x: Array, name: str) -> OpCase:
    return OpCase(NonZero(size=(symbol("found", 0, math.prod(x.shape)),)), (x,), name)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape in SHAPES[1:]:  # of a scalar ONNX does not say what it means
        yield _case(integers(rng, shape, -1, 2, np.float32), label(shape))
    for dtype in _TYPES:
        yield _case(integers(rng, (3, 11), 0, 2, dtype), np.dtype(dtype).name)
    yield _case(np.array([0.0, -0.0, np.nan, -np.inf, 1e-45], np.float32), "odd_numbers")
    yield _case(np.zeros((3, 5), np.float32), "none")
    yield _case(np.ones((3, 5), np.float32), "all")
