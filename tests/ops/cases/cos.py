"""Cases of cos."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.cos import Cos
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Cos",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Cos(), -12.0, 12.0)
    yield from unary_types(rng, Cos())
    yield OpCase(Cos(), (special(1.5707964, 3.1415927, 100.0, 1e6, 1e10, -1e20, 16367173.0, 8.507059e37),), "special")
