"""Cases of sin."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.sin import Sin
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Sin",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Sin(), -12.0, 12.0)
    yield from unary_types(rng, Sin())
    yield OpCase(Sin(), (special(1.5707964, 3.1415927, 100.0, 1e6, 1e10, -1e20, 16367173.0, 8.507059e37),), "special")
