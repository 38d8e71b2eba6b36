"""Cases of softmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.softmax import Softmax
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        axis = len(shape) - 1 if number % 2 else number % len(shape)
        yield OpCase(Softmax(axis), (normal(rng, shape),), label(shape, "along", axis))
    for shape, axis in (((2, 2081), 1), ((5, 1031), 0), ((3, 131, 9), 1), ((2, 3, 40), 2)):
        yield OpCase(Softmax(axis), (normal(rng, shape),), label(shape, "along", axis))
    yield OpCase(Softmax(1), (normal(rng, (3, 17)) * np.float32(200),), "large_numbers")
    yield OpCase(Softmax(1), (np.full((2, 13), -1e30, np.float32),), "equal_and_far_below_zero")
    yield OpCase(Softmax(1), (normal(rng, (3, 37), np.float16),), "f16")
    yield OpCase(Softmax(1), (normal(rng, (3, 37), np.float64),), "f64")
    for shape in ((2, 3, 150), (2, 5, 64)):  # whole tiles of columns, behind the first block
        yield OpCase(Softmax(1), (normal(rng, shape),), label(shape, "along", 1))
    for shape in ((2100, 2), (1400, 3), (300, 20)):  # rows that threads share, each from its own place on
        yield OpCase(Softmax(1), (normal(rng, shape),), label(shape, "along", 1))
