"""Cases of dwconv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.dwconv2d import DwConv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

# Input, filter (KH, KW) and attributes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, int], dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1), {}),
    ((1, 1, 1, 19), (1, 1), {}),
    ((1, 7, 7, 3), (3, 3), {}),
    ((1, 7, 7, 8), (3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 8, 8, 16), (3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    ((1, 8, 8, 16), (3, 3), {"pads": (0, 0, 1, 1), "strides": (2, 2)}),
    ((2, 13, 11, 5), (3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 14, 14, 33), (5, 5), {"pads": (2, 2, 2, 2)}),
    ((1, 9, 17, 2), (5, 3), {"pads": (2, 0, 1, 3)}),
    ((1, 9, 17, 2), (1, 7), {"strides": (1, 3), "pads": (0, 3, 0, 3)}),
    ((1, 9, 17, 7), (7, 1), {"strides": (3, 1), "pads": (3, 0, 3, 0)}),
    ((1, 11, 11, 4), (3, 3), {"dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 11, 13, 6), (3, 2), {"dilations": (2, 3), "strides": (2, 1), "pads": (1, 0, 2, 1)}),
    ((1, 7, 7, 1), (3, 3), {"multiplier": 4, "pads": (1, 1, 1, 1)}),
    ((1, 7, 7, 3), (3, 3), {"multiplier": 2}),
    ((2, 6, 5, 5), (3, 3), {"multiplier": 3, "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 4, 4, 64), (3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 3, 3, 31), (3, 3), {}),
    ((1, 2, 2, 3), (2, 2), {"pads": (3, 3, 3, 3), "strides": (2, 3)}),
    ((3, 16, 16, 8), (3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 5, 5, 128), (5, 5), {"pads": (2, 2, 2, 2)}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, kernel, attributes) in enumerate(_CASES):
        channels = shape[3] * attributes.get("multiplier", 1)
        x, w, b = normal(rng, shape), normal(rng, (*kernel, channels)), normal(rng, (channels,))
        with_bias = number % 3 != 0
        name = label(number, shape, "by", kernel, "biased" if with_bias else "plain")
        yield OpCase(DwConv2d(**attributes), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    for activation in ACTIVATED:
        inputs = (normal(rng, (1, 6, 7, 5)), normal(rng, (3, 3, 5)), normal(rng, (5,)))
        yield OpCase(DwConv2d(pads=(1, 1, 1, 1), **activation), inputs, label(activation["activation"]), (1, 2))
    inputs = (normal(rng, (1, 6, 7, 5)), normal(rng, (3, 3, 5)), normal(rng, (5,)))
    yield OpCase(DwConv2d(), inputs, "filter_computed")
    halves = tuple(array.astype(np.float16) for array in inputs)
    yield OpCase(DwConv2d(pads=(1, 1, 1, 1)), halves, "f16", (1, 2))
