"""Cases of atan."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.atan import Atan
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Atan",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Atan(), -4.0, 4.0)
    yield from unary_types(rng, Atan())
    yield OpCase(Atan(), (special(1.0, -1.0, 0.2, 0.6, 100.0),), "special")
