"""Cases of clip."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.clip import Clip
from tests.ops.case import OpCase
from tests.ops.element_types import NUMBERS, in_half, unary_types
from tests.ops.inputs import Rng, integers, label, unary, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Clip(0.0, 6.0), -8.0, 8.0)
    for low, high in ((-1.0, 1.0), (-np.inf, 0.5), (-0.25, np.inf), (-np.inf, np.inf), (2.0, 2.0)):
        yield OpCase(Clip(low, high), (uniform(rng, (2, 19), -4, 4),), label("from", low, "to", high))
    for dtype in (np.int32, np.int64):
        yield OpCase(Clip(-2.5, 4.0), (integers(rng, (5, 7), -9, 9, dtype),), np.dtype(dtype).name)
    yield from unary_types(rng, Clip(-2.5, 4.5), NUMBERS)
    yield from in_half(unary(rng, Clip(0.0, 6.0), -8.0, 8.0))
