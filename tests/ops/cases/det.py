"""Cases of det."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.det import Det
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    for batch in ((), (1,), (5,), (2, 3)):
        for size in (1, 2, 3, 4, 7):
            shape = (*batch, size, size)
            yield OpCase(Det(), (normal(rng, shape),), label(shape))
    yield OpCase(Det(), (normal(rng, (3, 0, 0)),), "no_elements")
    yield OpCase(Det(), (np.ones((4, 4), np.float32),), "singular")
    yield OpCase(Det(), (np.eye(5, dtype=np.float32)[[1, 0, 2, 4, 3]],), "permutation")
    yield OpCase(Det(), (np.zeros((2, 3, 3), np.float32),), "zeros")
    yield OpCase(Det(), (normal(rng, (2, 3, 3), np.float16),), "f16")
