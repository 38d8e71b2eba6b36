"""Cases of asinh."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.asinh import Asinh
from tests.ops.case import OpCase
from tests.ops.element_types import special, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Asinh",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Asinh(), -4.0, 4.0)
    yield from unary_types(rng, Asinh())
    yield OpCase(Asinh(), (special(1.0, 100.0, -1e10),), "special")
