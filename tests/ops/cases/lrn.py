"""Cases of lrn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.lrn import Lrn
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    sizes = (1, 2, 3, 5, 8)
    for number, shape in enumerate(SHAPES[1:]):
        op = Lrn(sizes[number % len(sizes)], 1e-4 if number % 2 else 0.7, 0.75, 1.0 + number % 3)
        yield OpCase(op, (normal(rng, shape),), label(shape, "over", op.size))
    yield OpCase(Lrn(3, 0.5, -0.5, 2.0), (normal(rng, (2, 9)),), "negative_power")
    yield OpCase(Lrn(9, 0.5, 1.0, 0.5), (normal(rng, (2, 4)),), "more_than_all_channels")
    yield OpCase(Lrn(5, 1e-4, 0.75, 1.0), (normal(rng, (3, 37), np.float16),), "f16")
