"""Cases of mul."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.mul import Mul
from tests.ops.case import OpCase
from tests.ops.element_types import binary_types, in_half
from tests.ops.inputs import Rng, binary, binary_integers


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Mul())
    yield from binary_integers(rng, Mul())
    yield from binary_types(rng, Mul())
    yield from in_half(binary(rng, Mul()))
