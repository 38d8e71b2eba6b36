"""Cases of erf."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.erf import Erf
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Erf())
    extremes = np.array([-10.0, -4.0, -1.0, -1e-3, 0.0, 1e-6, 0.5, 1.0, 4.0, 10.0], np.float32)
    yield OpCase(Erf(), (extremes,), "extremes")
    yield from unary_types(rng, Erf())
