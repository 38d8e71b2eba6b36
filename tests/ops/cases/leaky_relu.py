"""Cases of leaky_relu."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.leaky_relu import LeakyRelu
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, label, unary, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, LeakyRelu(0.01))
    for alpha in (0.0, 0.3, 1.5, -0.5):
        yield OpCase(LeakyRelu(alpha), (uniform(rng, (2, 19), -4, 4),), label("alpha", alpha))
    yield from unary_types(rng, LeakyRelu(0.1))
