"""Cases of col2im."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.col2im import Col2im
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

_Ints = tuple[int, ...]
# Batch, channels, image, block, strides, pads, dilations.
_CASES: tuple[tuple[int, int, _Ints, _Ints, _Ints, _Ints, _Ints], ...] = (
    (1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (5, 5), (1, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (5, 5), (5, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
    (2, 3, (7, 5), (3, 3), (1, 1), (0, 0, 0, 0), (1, 1)),
    (2, 3, (7, 5), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (1, 2, (6, 6), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
    (1, 2, (6, 6), (2, 3), (2, 1), (0, 0, 0, 0), (1, 1)),
    (1, 2, (9, 8), (3, 2), (2, 2), (1, 0, 1, 0), (2, 1)),
    (1, 1, (9, 9), (2, 2), (1, 3), (0, 0, 0, 0), (3, 4)),
    (3, 1, (4, 11), (2, 4), (1, 2), (0, 2, 1, 3), (1, 1)),
    (1, 5, (17, 13), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (1, 17, (3, 3), (2, 2), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (17,), (3,), (1,), (1, 1), (1,)),
    (2, 3, (16,), (4,), (4,), (0, 0), (1,)),
    (2, 3, (17,), (2,), (3,), (2, 1), (5,)),
    (1, 2, (3, 4, 5), (1, 1, 5), (1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1)),
    (1, 2, (3, 4, 5), (2, 2, 2), (1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1)),
    (2, 1, (5, 4, 6), (2, 3, 2), (1, 2, 2), (1, 0, 0, 1, 1, 0), (2, 1, 1)),
    (1, 1, (2, 3, 2, 3), (2, 2, 1, 2), (1, 1, 1, 1), (0,) * 8, (1, 1, 1, 1)),
    (1, 3, (7, 7), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 1, (4, 4), (4, 4), (1, 1), (3, 3, 3, 3), (1, 1)),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array | str, ...], dict[str, Any]]]:
    """ONNX has at least two axes: one of size 1 comes before a single one."""
    op: Any = case.op
    more = 1 if len(op.image) == 1 else 0
    half = len(op.image)
    attributes = {
        "strides": (1,) * more + op.strides,
        "pads": (0,) * more + op.pads[:half] + (0,) * more + op.pads[half:],
        "dilations": (1,) * more + op.dilations,
    }
    yield "Col2Im", (*case.inputs, np.array((1,) * more + op.image), np.array((1,) * more + op.block)), attributes
    if more:
        channels = case.inputs[0].shape[1] // op.block[0]
        yield "Reshape", ("out0_0", np.array((-1, channels, *op.image))), {}


def cases(rng: Rng) -> Iterator[OpCase]:
    for batch, channels, image, block, strides, pads, dilations in _CASES:
        op = Col2im(image, block, strides, pads, dilations)
        shape = (batch, channels * math.prod(block), math.prod(op.counts()))
        name = label(batch, channels, image, block, strides, pads, dilations)
        yield OpCase(op, (normal(rng, shape),), name)
