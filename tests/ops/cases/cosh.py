"""Cases of cosh."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.cosh import Cosh
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Cosh",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Cosh(), -4.0, 4.0)
    yield from unary_types(rng, Cosh())
    yield OpCase(Cosh(), (special(88.0, -88.0, 0.5, 20.0),), "special")
