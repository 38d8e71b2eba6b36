"""Cases of bitwise_not."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.bitwise_not import BitwiseNot
from tests.ops.case import OpCase
from tests.ops.element_types import INTEGERS, anything, unary_types
from tests.ops.inputs import SHAPES, Rng, label

ONNX = ("BitwiseNot",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary_types(rng, BitwiseNot(), INTEGERS)
    for number, shape in enumerate(SHAPES):
        yield OpCase(BitwiseNot(), (anything(rng, shape, INTEGERS[number % len(INTEGERS)]),), label(shape))
