"""Cases of tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.tile import Tile
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((1,), (1,)),
    ((1,), (1023,)),
    ((7,), (3,)),
    ((17,), (1,)),
    ((3, 5), (2, 1)),
    ((3, 5), (1, 2)),
    ((3, 5), (2, 3)),
    ((31, 33), (1, 7)),
    ((31, 33), (7, 1)),
    ((1, 1), (17, 19)),
    ((2, 3, 5), (1, 2, 1)),
    ((2, 3, 5), (3, 1, 2)),
    ((2, 3, 5), (2, 2, 2)),
    ((1, 13, 1), (5, 1, 4)),
    ((1, 4, 4, 8), (1, 2, 2, 1)),
    ((2, 5, 7, 3), (1, 1, 1, 4)),
    ((2, 5, 7, 3), (2, 1, 3, 1)),
    ((2, 1, 3, 1, 5), (1, 4, 1, 2, 1)),
    ((3, 2, 2, 2, 7), (2, 1, 2, 1, 2)),
    ((3, 5), (0, 2)),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    yield "Tile", (case.inputs[0], np.array(op.repeats, np.int64)), {}


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, repeats in _CASES:
        yield OpCase(Tile(repeats), (normal(rng, shape),), label(shape, "by", repeats))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(Tile((2, 3)), (integers(rng, (3, 5), 0, 99, dtype),), np.dtype(dtype).name)
    yield OpCase(Tile((2, 3)), (integers(rng, (3, 5), 0, 2, np.bool_),), "bool")
