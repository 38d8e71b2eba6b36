"""Cases of log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.log import Log
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, unary_types
from tests.ops.inputs import Rng, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Log(), 1e-3, 20.0)
    extremes = np.array([1e-37, 1e-10, 0.5, 1.0, 2.0, 1e10, 1e37], np.float32)
    yield OpCase(Log(), (extremes,), "extremes")
    yield from unary_types(rng, Log(), WIDE, between(0.1, 9))
