"""Cases of logical_not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.logical_not import LogicalNot
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, integers, label

ONNX = ("Not",)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape in SHAPES:
        yield OpCase(LogicalNot(), (integers(rng, shape, 0, 2, np.bool_),), label(shape))
