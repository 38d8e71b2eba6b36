"""Cases of log_softmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.log_softmax import LogSoftmax
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS
from tests.ops.inputs import SHAPES, Rng, label, normal

ONNX = ("LogSoftmax", "axis")


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        axis = len(shape) - 1 if number % 2 else number % len(shape)
        yield OpCase(LogSoftmax(axis), (normal(rng, shape),), label(shape, "along", axis))
    yield OpCase(LogSoftmax(1), (normal(rng, (3, 17)) * np.float32(200),), "large_numbers")
    yield OpCase(LogSoftmax(1), (np.full((2, 13), -1e30, np.float32),), "equal_and_far_below_zero")
    for dtype in FLOATS:
        yield OpCase(LogSoftmax(1), (normal(rng, (3, 37), dtype),), np.dtype(dtype).name)
