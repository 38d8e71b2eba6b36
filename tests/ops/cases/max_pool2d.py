"""Cases of max_pool2d."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.max_pool2d import MaxPool2d
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, integers, label, normal
from tests.ops.pools import POOLS


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, attributes) in enumerate(POOLS):
        # All below zero: a padding that counted as zero would show.
        x = -np.abs(normal(rng, shape)) if number % 2 else normal(rng, shape)
        yield OpCase(MaxPool2d(**attributes), (x,), label(number, shape, "by", attributes["kernel"]))
    op = MaxPool2d(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    yield OpCase(op, (normal(rng, (1, 7, 7, 5), np.float16),), "f16")
    yield OpCase(op, (normal(rng, (1, 7, 7, 5), np.float64),), "f64")
    holed = normal(rng, (1, 9, 9, 21))
    holed[0, 4, 4, 3] = holed[0, 0, 0, 20] = holed[0, 8, 7, 8] = np.nan
    yield OpCase(op, (holed,), "nan")
    for dtype, low, high in ((np.int8, -128, 0), (np.uint8, 0, 255)):
        yield OpCase(op, (integers(rng, (1, 7, 7, 5), low, high, dtype),), np.dtype(dtype).name)
