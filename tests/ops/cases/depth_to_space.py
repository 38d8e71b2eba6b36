"""Cases of depth_to_space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.depth_to_space import DepthToSpace
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, block.
_CASES: tuple[tuple[tuple[int, int, int, int], int], ...] = (
    ((1, 1, 1, 1), 1),
    ((1, 1, 1, 4), 2),
    ((1, 2, 3, 4), 2),
    ((2, 3, 5, 8), 2),
    ((1, 7, 1, 12), 2),
    ((1, 4, 4, 64), 2),
    ((1, 3, 5, 9), 3),
    ((2, 5, 3, 45), 3),
    ((1, 9, 9, 16), 4),
    ((1, 2, 2, 75), 5),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    yield "Transpose", case.inputs, {"perm": (0, 3, 1, 2)}
    yield "DepthToSpace", (), {"blocksize": op.block, "mode": op.mode}
    yield "Transpose", (), {"perm": (0, 2, 3, 1)}


def cases(rng: Rng) -> Iterator[OpCase]:
    for mode in ("DCR", "CRD"):
        for shape, block in _CASES:
            yield OpCase(DepthToSpace(block, mode), (normal(rng, shape),), label(mode, shape, "by", block))
        for dtype in (np.int8, np.int64, np.float16):
            inputs = (integers(rng, (1, 3, 2, 8), 0, 99, dtype),)
            yield OpCase(DepthToSpace(2, mode), inputs, label(mode, np.dtype(dtype).name))
