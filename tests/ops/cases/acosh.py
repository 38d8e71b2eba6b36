"""Cases of acosh."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.acosh import Acosh
from tests.ops.case import OpCase
from tests.ops.element_types import WIDE, between, special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Acosh",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Acosh(), 1.0, 8.0)
    yield from unary_types(rng, Acosh(), WIDE, between(1, 50))
    yield OpCase(Acosh(), (special(1.0, 1.0000001, 0.99, 1e10),), "special")
