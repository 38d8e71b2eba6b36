"""Cases of round."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.round import Round
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Round",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Round(), -9.0, 9.0)
    yield from unary_types(rng, Round())
    yield OpCase(Round(), (special(0.5, 1.5, 2.5, -0.5, -1.5, 8388607.5, 8388609.0, 0.49999997),), "special")
