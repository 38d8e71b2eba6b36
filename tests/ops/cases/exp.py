"""Cases of exp."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.exp import Exp
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Exp())
    extremes = np.array([-200.0, -100.0, -87.0, -1.0, -0.0, 0.0, 1.0, 87.0, 88.0], np.float32)
    yield OpCase(Exp(), (extremes,), "extremes")
    yield from unary_types(rng, Exp())
