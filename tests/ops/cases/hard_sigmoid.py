"""Cases of hard_sigmoid."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.hard_sigmoid import HardSigmoid
from tests.ops.case import OpCase
from tests.ops.element_types import in_half, unary_types
from tests.ops.inputs import Rng, label, unary, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, HardSigmoid(0.2, 0.5))
    for alpha, beta in ((1 / 6, 0.5), (1.0, 0.0), (0.5, -0.25), (-0.5, 0.5)):
        yield OpCase(HardSigmoid(alpha, beta), (uniform(rng, (2, 19), -4, 4),), label("alpha", alpha, "beta", beta))
    yield from unary_types(rng, HardSigmoid(0.2, 0.5))
    yield from in_half(unary(rng, HardSigmoid(0.2, 0.5)))
