"""Cases of resample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.resample import Resample
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, integers, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        axis = number % len(shape)
        table = ((1, 1), (7, 2), (3, 4), (13, 3))[number % 4]
        inputs = (normal(rng, shape), integers(rng, table, -1, shape[axis] + 1), normal(rng, table))
        constants = (1, 2) if number % 3 else ()
        yield OpCase(Resample(axis), inputs, label(shape, "along", axis, "by", table), constants)
    far = np.array([[-(2**31), 2**31 - 1]], np.int32)
    yield OpCase(Resample(0), (normal(rng, (5,)), far, normal(rng, (1, 2))), "far_outside", (1, 2))
    halves = (normal(rng, (3, 7), np.float16), integers(rng, (4, 2), 0, 7), normal(rng, (4, 2), np.float16))
    yield OpCase(Resample(1), halves, "f16", (1, 2))
    doubles = (normal(rng, (3, 7, 2), np.float64), integers(rng, (4, 3), 0, 7), normal(rng, (4, 3), np.float64))
    yield OpCase(Resample(1), doubles, "f64", (1, 2))
