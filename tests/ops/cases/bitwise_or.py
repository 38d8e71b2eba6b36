"""Cases of bitwise_or."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.bitwise_or import BitwiseOr
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, anything, binary_types
from tests.ops.inputs import PAIRS, Rng, label

ONNX = ("BitwiseOr",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary_types(rng, BitwiseOr(), INTEGERS)
    for number, (a, b) in enumerate(PAIRS):
        dtype = INTEGERS[number % len(INTEGERS)]
        yield OpCase(BitwiseOr(), (anything(rng, a, dtype), anything(rng, b, dtype)), label(a, "with", b))
