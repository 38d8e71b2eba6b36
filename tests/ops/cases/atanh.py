"""Cases of atanh."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.atanh import Atanh
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Atanh",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Atanh(), -0.99, 0.99)
    yield from unary_types(rng, Atanh(), WIDE, between(-0.99, 0.99))
    yield OpCase(Atanh(), (special(1.0, -1.0, 0.17, 0.172, 0.99999994),), "special")
