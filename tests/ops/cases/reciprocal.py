"""Cases of reciprocal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.reciprocal import Reciprocal
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Reciprocal(), 0.1, 5.0)
    extremes = np.array([-1e30, -3.0, -0.5, 0.5, 3.0, 1e30], np.float32)
    yield OpCase(Reciprocal(), (extremes,), "extremes")
    yield from unary_types(rng, Reciprocal(), WIDE, between(0.1, 9))
