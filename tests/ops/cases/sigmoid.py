"""Cases of sigmoid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.sigmoid import Sigmoid
from tests.ops.case import OpCase
from tests.ops.element_types import in_half, unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Sigmoid())
    extremes = np.array([-1e4, -100.0, -88.0, -20.0, -0.0, 0.0, 20.0, 88.0, 100.0, 1e4], np.float32)
    yield OpCase(Sigmoid(), (extremes,), "extremes")
    yield from unary_types(rng, Sigmoid())
    yield from in_half(unary(rng, Sigmoid()))
