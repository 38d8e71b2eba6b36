"""Cases of broadcast_to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.broadcast_to import BroadcastTo
from tests.ops.case import OpCase
from tests.ops.inputs import PAIRS, Rng, integers, label, normal


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    yield "Expand", (case.inputs[0], np.array(op.shape, np.int64)), {}


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in PAIRS:
        shape = np.broadcast_shapes(a, b)
        yield OpCase(BroadcastTo(shape), (normal(rng, a),), label(a, "to", shape, "by", b))
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.float16):
        yield OpCase(BroadcastTo((2, 3, 5)), (integers(rng, (3, 1), 0, 99, dtype),), np.dtype(dtype).name)
    yield OpCase(BroadcastTo((4, 3)), (integers(rng, (3,), 0, 2, np.bool_),), "bool")
    yield OpCase(BroadcastTo((0, 3)), (normal(rng, (1, 3)),), "to_nothing")
    yield OpCase(BroadcastTo((2, 1, 2, 1, 2, 1, 3)), (normal(rng, (1, 2, 1, 1)),), "rank_7")
