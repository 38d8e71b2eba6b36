"""Cases of batch_norm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.batch_norm import BatchNorm
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label, normal, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        channels = shape[-1:]
        statistics = (normal(rng, channels), normal(rng, channels), normal(rng, channels))
        inputs = (normal(rng, shape), *statistics, uniform(rng, channels, 0.1, 2))
        epsilon = (1e-5, 1e-3, 0.0)[number % 3]
        yield OpCase(BatchNorm(epsilon), inputs, label(shape, "epsilon", epsilon), (1, 2, 3, 4))
        if number in (8, 12):
            halves = tuple(array.astype(np.float16) for array in inputs)
            yield OpCase(BatchNorm(epsilon), halves, label("f16", shape), (1, 2, 3, 4))
