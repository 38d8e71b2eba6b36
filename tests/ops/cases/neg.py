"""Cases of neg."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.neg import Neg
from tests.ops.case import OpCase
from tests.ops.element_types import NUMBERS, unary_types
from tests.ops.inputs import Rng, integers, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Neg())
    for dtype in (np.int32, np.int64):
        yield OpCase(Neg(), (integers(rng, (5, 7), -9, 9, dtype),), np.dtype(dtype).name)
    yield from unary_types(rng, Neg(), NUMBERS)
