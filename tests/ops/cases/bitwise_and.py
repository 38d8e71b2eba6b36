"""Cases of bitwise_and."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.bitwise_and import BitwiseAnd
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, anything, binary_types
from tests.ops.inputs import PAIRS, Rng, label

ONNX = ("BitwiseAnd",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary_types(rng, BitwiseAnd(), INTEGERS)
    for number, (a, b) in enumerate(PAIRS):
        dtype = INTEGERS[number % len(INTEGERS)]
        yield OpCase(BitwiseAnd(), (anything(rng, a, dtype), anything(rng, b, dtype)), label(a, "with", b))
