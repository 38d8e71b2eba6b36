"""Cases of acos."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.acos import Acos
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Acos",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Acos(), -1.0, 1.0)
    yield from unary_types(rng, Acos(), WIDE, between(-1, 1))
    yield OpCase(Acos(), (special(1.0, -1.0, 0.99999994, 0.5, -0.5, 1.0000001),), "special")
