"""Cases of space_to_depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.space_to_depth import SpaceToDepth
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label, normal

# Shape, block.
_CASES: tuple[tuple[tuple[int, int, int, int], int], ...] = (
    ((1, 1, 1, 1), 1),
    ((1, 2, 2, 1), 2),
    ((1, 4, 6, 1), 2),
    ((2, 6, 10, 3), 2),
    ((1, 14, 2, 5), 2),
    ((1, 8, 8, 64), 2),
    ((1, 9, 15, 1), 3),
    ((2, 15, 9, 7), 3),
    ((1, 12, 8, 2), 4),
    ((1, 10, 5, 3), 5),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array | str, ...], dict[str, Any]]]:
    """Mode CRD is that of newer operator sets only: there, it is DCR with the channels in another order."""
    op: Any = case.op
    yield "Transpose", case.inputs, {"perm": (0, 3, 1, 2)}
    yield "SpaceToDepth", (), {"blocksize": op.block}
    yield "Transpose", (), {"perm": (0, 2, 3, 1)}
    if op.mode == "CRD":
        channels = case.inputs[0].shape[3]
        order = np.arange(channels * op.block**2).reshape(op.block**2, channels).T.reshape(-1)
        yield "Gather", ("out2_0", order), {"axis": 3}


def cases(rng: Rng) -> Iterator[OpCase]:
    for mode in ("DCR", "CRD"):
        for shape, block in _CASES:
            yield OpCase(SpaceToDepth(block, mode), (normal(rng, shape),), label(mode, shape, "by", block))
        for dtype in (np.int8, np.int64, np.float16):
            inputs = (integers(rng, (1, 4, 6, 3), 0, 99, dtype),)
            yield OpCase(SpaceToDepth(2, mode), inputs, label(mode, np.dtype(dtype).name))
