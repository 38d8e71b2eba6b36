"""Cases of reduce_mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.reduce_mean import ReduceMean
from tests.ops.case import OpCase
from tests.ops.element_types import RARE, between, in_half
from tests.ops.inputs import LARGE_REDUCTIONS, REDUCTIONS, Rng, integers, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for shape, axes, keepdims in REDUCTIONS + LARGE_REDUCTIONS:
        name = label(shape, "over", axes, "kept" if keepdims else "dropped")
        yield OpCase(ReduceMean(axes, keepdims), (normal(rng, shape),), name)
    shape = (3, 37)
    yield OpCase(ReduceMean((1,), False), (normal(rng, shape).astype(np.float16),), "f16_3x37")
    for dtype in (np.int32, np.int64):
        yield OpCase(ReduceMean((1,), True), (integers(rng, (3, 4, 5), -9, 9, dtype),), np.dtype(dtype).name)
    for rare in RARE:
        numbers = between(-9, 9)(rng, (3, 4, 5), rare)
        yield OpCase(ReduceMean((0, 2), False), (numbers,), label("of", np.dtype(rare).name))
