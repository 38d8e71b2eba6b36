"""Cases of bitwise_xor."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.bitwise_xor import BitwiseXor
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, anything, binary_types
from tests.ops.inputs import PAIRS, Rng, label

ONNX = ("BitwiseXor",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary_types(rng, BitwiseXor(), INTEGERS)
    for number, (a, b) in enumerate(PAIRS):
        dtype = INTEGERS[number % len(INTEGERS)]
        yield OpCase(BitwiseXor(), (anything(rng, a, dtype), anything(rng, b, dtype)), label(a, "with", b))
