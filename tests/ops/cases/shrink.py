"""Cases of shrink."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.shrink import Shrink
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS, INTEGERS, between, special, unary_types
from tests.ops.inputs import Rng, unary, uniform

ONNX = ("Shrink", "lambd", "bias")


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Shrink(0.5, 0.25), -4.0, 4.0)
    yield from unary_types(rng, Shrink(0.5, 0.25), FLOATS)
    yield OpCase(Shrink(0.5, 0.25), (special(0.5, -0.5),), "special")
    yield OpCase(Shrink(1.5, 0.0), (uniform(rng, (2, 19), -4, 4),), "hard")
    yield from unary_types(rng, Shrink(1.5, 1.5), INTEGERS, between(-20, 20))
