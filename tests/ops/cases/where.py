"""Cases of where."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.where import Where
from tests.ops.case import OpCase
from tests.ops.element_types import NUMBERS, anything
from tests.ops.inputs import PAIRS, Rng, integers, label, normal

ONNX = ("Where",)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (a, b) in enumerate(PAIRS):
        chosen = integers(rng, a if number % 3 else b, 0, 2, np.bool_)
        yield OpCase(Where(), (chosen, normal(rng, a), normal(rng, b)), label(a, "or", b))
    for dtype in NUMBERS:
        chosen = integers(rng, (5, 1), 0, 2, np.bool_)
        yield OpCase(Where(), (chosen, anything(rng, (5, 7), dtype), anything(rng, (), dtype)), np.dtype(dtype).name)
    flags = [integers(rng, shape, 0, 2, np.bool_) for shape in ((2, 1, 4), (3, 1), (2, 3, 4))]
    yield OpCase(Where(), tuple(flags), "bool")
    yield OpCase(
        Where(), (integers(rng, (3, 9), 0, 2, np.bool_), normal(rng, (9,)), normal(rng, (3, 1))), "weights", (1, 2)
    )
