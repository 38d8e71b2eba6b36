"""Cases of max_roi_pool."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.max_roi_pool import MaxRoiPool
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    shapes = ((1, 1, 1, 1), (1, 8, 8, 3), (2, 9, 7, 5), (3, 5, 11, 17), (1, 16, 16, 8))
    sizes = ((1, 1), (3, 3), (2, 4), (7, 7))
    for shape in shapes:
        for number, size in enumerate(sizes):
            scale = (1.0, 0.5, 0.0625, 2.0)[number]
            corner = uniform(rng, (3, 2), -2, 0.6 * shape[1] / scale)
            far = corner + uniform(rng, (3, 2), -1, 0.9 * shape[1] / scale)
            pictures = rng.integers(0, shape[0], (3, 1)).astype(np.float32)
            inputs = (normal(rng, shape), np.concatenate([pictures, corner, far], axis=1))
            yield OpCase(MaxRoiPool(size, scale), inputs, label(shape, "to", size))
    wild = np.array([[7, np.nan, 0, 1, 1], [np.nan, -1e30, -1e30, 1e30, 1e30], [-1, 9, 9, 9, 9]], np.float32)
    yield OpCase(MaxRoiPool((2, 2), 1.0), (normal(rng, (2, 4, 4, 3)), wild), "wild_regions")
    halves = (normal(rng, (1, 6, 6, 3), np.float16), np.array([[0, 1, 1, 4, 5]], np.float16))
    yield OpCase(MaxRoiPool((2, 2), 1.0), halves, "f16")
