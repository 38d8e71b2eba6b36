"""Cases of inverse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.inverse import Inverse
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    for batch in ((), (1,), (5,), (2, 3)):
        for size in (1, 2, 3, 4, 7):
            shape = (*batch, size, size)
            far_from_singular = normal(rng, shape) + 3 * np.eye(size, dtype=np.float32)
            yield OpCase(Inverse(), (far_from_singular,), label(shape))
    yield OpCase(Inverse(), (normal(rng, (3, 0, 0)),), "no_elements")
    yield OpCase(Inverse(), (normal(rng, (0, 3, 3)),), "no_matrices")
    yield OpCase(Inverse(), (np.stack([np.ones((4, 4), np.float32), np.eye(4, dtype=np.float32)]),), "singular")
    yield OpCase(Inverse(), (np.eye(5, dtype=np.float32)[[1, 0, 2, 4, 3]],), "permutation")
    yield OpCase(Inverse(), (np.zeros((2, 3, 3), np.float32),), "zeros")
    yield OpCase(Inverse(), (np.diag(np.array([1e-20, 1e20, -2.0], np.float32)),), "very_different_sizes")
    yield OpCase(Inverse(), (normal(rng, (2, 3, 3), np.float16) + 3 * np.eye(3, dtype=np.float16),), "f16")
