"""Cases of gelu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.gelu import Gelu
from tests.ops.case import OpCase
from tests.ops.element_types import anything, in_half
from tests.ops.inputs import Rng, label, unary, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Gelu("none"))
    for shape in ((), (1,), (17,), (3, 5), (2, 3, 5), (1, 9, 9, 17)):
        yield OpCase(Gelu("tanh"), (uniform(rng, shape, -4, 4),), label("tanh", shape))
    extremes = np.array([-1e4, -100.0, -88.0, -20.0, -0.0, 0.0, 20.0, 88.0, 100.0, 1e4], np.float32)
    yield OpCase(Gelu("none"), (extremes,), "extremes")
    for approximate in ("none", "tanh"):
        yield OpCase(Gelu(approximate), (anything(rng, (3, 41), np.float64),), f"of_float64_{approximate}")
    yield from in_half(unary(rng, Gelu("none")))
