"""Cases of relu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.relu import Relu
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS, SIGNED, in_half, unary_types
from tests.ops.inputs import Rng, integers, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Relu())
    for dtype in (np.int32, np.int64):
        yield OpCase(Relu(), (integers(rng, (5, 7), -9, 9, dtype),), np.dtype(dtype).name)
    yield from unary_types(rng, Relu(), (*FLOATS, *SIGNED))
    yield from in_half(unary(rng, Relu()))
