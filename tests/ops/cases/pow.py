"""Cases of pow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.pow import Pow
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, between, binary_types
from tests.ops.inputs import Rng, binary, integers, label, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Pow(), lambda rng, shape: uniform(rng, shape, 0.1, 3))
    for power in (0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -2.0):
        base = uniform(rng, (2, 19), 0.2, 3) if power == 0.5 else uniform(rng, (2, 19), 0.2, 3) * np.float32(-1)
        yield OpCase(Pow(), (base, np.array(power, np.float32)), label("power", power), (1,))
    yield OpCase(Pow(), (integers(rng, (17,), -5, 5), integers(rng, (17,), 0, 7)), "int32_17_with_17")
    yield OpCase(Pow(), (integers(rng, (3, 5), -5, 5, np.int64), np.array(2, np.int64)), "int64_3x5_with_scalar")
    yield from binary_types(rng, Pow(), (np.float64,), between(0.1, 3))
    yield from binary_types(rng, Pow(), INTEGERS, between(-5, 5), between(0, 4))
