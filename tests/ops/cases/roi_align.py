"""Cases of roi_align."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.roi_align import RoiAlign
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform

# Input, regions, output size, samples and scale.
_CASES: tuple[tuple[tuple[int, ...], int, tuple[int, int], int, float], ...] = (
    ((1, 1, 1, 1), 1, (1, 1), 1, 1.0),
    ((1, 8, 8, 3), 2, (3, 3), 2, 1.0),
    ((2, 9, 7, 5), 4, (2, 4), 0, 0.5),
    ((3, 5, 11, 17), 3, (5, 5), 3, 0.25),
    ((1, 16, 16, 8), 5, (7, 7), 0, 1.0),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, count, size, samples, scale in _CASES:
        corner = uniform(rng, (count, 2), -2, 0.6 * shape[1] / scale)
        regions = np.concatenate([corner, corner + uniform(rng, (count, 2), 0.1, 0.9 * shape[1] / scale)], axis=1)
        pictures = rng.integers(0, shape[0], count)
        for mode in ("mean", "max"):
            for half_pixel in (False, True):
                op = RoiAlign(size, samples, scale, mode, half_pixel)
                yield OpCase(op, (normal(rng, shape), regions, pictures), label(shape, mode, half_pixel, samples))
    wild = np.array([[np.nan, 0, 1, 1], [-1e30, -1e30, 1e30, 1e30], [3, 3, 1, 1]], np.float32)
    inputs = (normal(rng, (2, 4, 4, 3)), wild, np.array([-5, 9, 1]))
    yield OpCase(RoiAlign((2, 2), 2, 1.0, "mean", True), inputs, "wild_regions")
    halves = (normal(rng, (1, 6, 6, 3), np.float16), np.array([[1, 1, 4, 5]], np.float16), np.array([0]))
    yield OpCase(RoiAlign((2, 2), 2, 1.0, "mean", True), halves, "f16")
