"""Cases of floor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.floor import Floor
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Floor(), -40.0, 40.0)
    extremes = np.array([-3.0, -2.5, -2.0, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 8388607.5, 1e10], np.float32)
    yield OpCase(Floor(), (extremes,), "extremes")
    yield from unary_types(rng, Floor())
