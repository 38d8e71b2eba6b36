"""Cases of hard_swish."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.hard_swish import HardSwish
from tests.ops.case import OpCase
from tests.ops.element_types import in_half, unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, HardSwish(), -6.0, 6.0)
    extremes = np.array([-100.0, -3.0, -2.9999, -0.0, 0.0, 2.9999, 3.0, 100.0], np.float32)
    yield OpCase(HardSwish(), (extremes,), "extremes")
    yield from unary_types(rng, HardSwish())
    yield from in_half(unary(rng, HardSwish(), -6.0, 6.0))
