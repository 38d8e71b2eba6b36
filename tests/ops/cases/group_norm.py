"""Cases of group_norm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.group_norm import GroupNorm
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

# Input and groups: one group, one per channel, small and wide groups, blocks that are not full.
_CASES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1, 1, 1, 1), 1),
    ((1, 4, 5, 3), 1),
    ((1, 4, 5, 3), 3),
    ((2, 4, 5, 8), 2),
    ((2, 4, 5, 8), 4),
    ((2, 4, 5, 8), 8),
    ((1, 7, 3, 33), 33),
    ((1, 7, 3, 33), 11),
    ((1, 7, 3, 33), 3),
    ((1, 3, 3, 64), 2),
    ((1, 3, 3, 64), 32),
    ((3, 2, 2, 40), 8),
    ((3, 2, 2, 40), 2),
    ((1, 16, 16, 17), 17),
    ((1, 16, 16, 17), 1),
    ((2, 9, 6), 3),
    ((2, 9, 6), 6),
    ((4, 10), 5),
    ((4, 10), 2),
    ((2, 2, 3, 4, 6), 3),
    ((1, 2, 2, 2, 20), 20),
    ((1, 48, 48, 10), 5),
    ((1, 47, 45, 6), 6),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, groups) in enumerate(_CASES):
        inputs = (normal(rng, shape) + np.float32(2), normal(rng, shape[-1:]), normal(rng, shape[-1:]))
        yield OpCase(GroupNorm(groups, 1e-5), inputs, label(shape, "in", groups), (1, 2) if number % 2 else ())
    ones = np.ones(6, np.float32)
    yield OpCase(GroupNorm(2, 1e-3), (np.full((1, 3, 3, 6), 7, np.float32), ones, ones), "no_variance", (1, 2))
    far = normal(rng, (1, 5, 5, 6)) + np.float32(1000)
    yield OpCase(GroupNorm(6, 1e-5), (far, ones, ones), "far_from_zero", (1, 2))
    halves = tuple(normal(rng, shape, np.float16) for shape in ((1, 3, 4, 6), (6,), (6,)))
    yield OpCase(GroupNorm(3, 1e-5), halves, "f16")
