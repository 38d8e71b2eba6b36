"""Cases of sqrt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.sqrt import Sqrt
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Sqrt(), 0.0, 20.0)
    extremes = np.array([0.0, 1e-37, 1e-10, 0.5, 1.0, 2.0, 1e10, 1e37], np.float32)
    yield OpCase(Sqrt(), (extremes,), "extremes")
    yield from unary_types(rng, Sqrt(), WIDE, between(0.1, 9))
