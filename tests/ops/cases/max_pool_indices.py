"""Cases of max_pool_indices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.max_pool_indices import MaxPoolIndices
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal
from tests.ops.pools import POOLS


def cases(rng: Rng) -> Iterator[OpCase]:
    idle = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
    for number, ((batch, height, width, channels), attributes) in enumerate(POOLS):
        op = MaxPoolIndices(**(idle | attributes), column_major=bool(number % 2))
        shape = (batch, min(channels, 5), height, width)
        yield OpCase(op, (normal(rng, shape),), label(number, shape, "by", attributes["kernel"]))
    line = MaxPoolIndices(kernel=(3,), strides=(2,), pads=(1, 1), dilations=(1,))
    yield OpCase(line, (normal(rng, (2, 3, 9)),), "one_axis")
    for column_major in (False, True):
        box = MaxPoolIndices(
            kernel=(2, 3, 2),
            strides=(2, 1, 1),
            pads=(1, 0, 1, 0, 1, 0),
            dilations=(1, 2, 1),
            ceil_mode=True,
            column_major=column_major,
        )
        yield OpCase(box, (normal(rng, (2, 3, 5, 7, 4)),), label("three_axes", column_major))
    equal = MaxPoolIndices(kernel=(2, 2), strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1))
    yield OpCase(equal, (np.zeros((1, 2, 4, 4), np.float32),), "equal_elements")
    holes = normal(rng, (1, 2, 6, 6))
    holes[0, :, 2, 3] = np.nan
    holes[0, :, 4, 4] = -np.inf
    yield OpCase(equal, (holes,), "nan_and_infinity")
    yield OpCase(equal, (normal(rng, (1, 2, 5, 5), np.float16),), "f16")
