"""Cases of elu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.elu import Elu
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, label, unary, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Elu(1.0))
    for alpha in (0.0, 0.3, 1.5):
        yield OpCase(Elu(alpha), (uniform(rng, (2, 19), -4, 4),), label("alpha", alpha))
    extremes = np.array([-1e4, -100.0, -88.0, -20.0, -0.0, 0.0, 20.0, 88.0, 100.0, 1e4], np.float32)
    yield OpCase(Elu(1.0), (extremes,), "extremes")
    yield from unary_types(rng, Elu(0.7))
