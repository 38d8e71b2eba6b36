"""Cases of sinh."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.sinh import Sinh
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Sinh",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Sinh(), -4.0, 4.0)
    yield from unary_types(rng, Sinh())
    yield OpCase(Sinh(), (special(88.0, -88.0, 0.5, 20.0),), "special")
