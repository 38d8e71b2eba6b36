"""Cases of conv3d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.conv3d import Conv3d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

# Input, filter (O, KD, KH, KW, C / groups) and attributes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
    ((1, 4, 5, 6, 3), (4, 1, 1, 1, 3), {}),
    ((1, 4, 5, 6, 3), (7, 3, 3, 3, 3), {}),
    ((1, 4, 5, 6, 3), (7, 3, 3, 3, 3), {"pads": (1, 1, 1, 1, 1, 1)}),
    ((2, 5, 4, 4, 2), (3, 2, 2, 2, 2), {"strides": (2, 2, 2)}),
    ((1, 6, 5, 7, 4), (8, 3, 1, 2, 4), {"strides": (1, 2, 3), "pads": (0, 1, 2, 2, 1, 0)}),
    ((1, 7, 7, 7, 3), (5, 3, 3, 3, 3), {"dilations": (2, 2, 2)}),
    ((1, 7, 6, 5, 3), (5, 3, 2, 2, 3), {"dilations": (1, 3, 2), "strides": (2, 1, 1)}),
    ((1, 4, 4, 4, 6), (4, 3, 3, 3, 3), {"groups": 2}),
    ((2, 4, 3, 4, 9), (6, 2, 2, 2, 3), {"groups": 3, "pads": (1, 1, 1, 0, 0, 0)}),
    ((1, 4, 4, 4, 5), (5, 3, 3, 3, 1), {"groups": 5}),
    ((1, 4, 4, 4, 5), (10, 3, 3, 3, 1), {"groups": 5}),
    ((1, 2, 3, 3, 17), (33, 2, 2, 2, 17), {}),
    ((1, 1, 9, 9, 3), (8, 1, 3, 3, 3), {"pads": (0, 1, 1, 0, 1, 1)}),
    ((3, 3, 3, 3, 4), (4, 3, 3, 3, 4), {}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, filters, attributes) in enumerate(_CASES):
        x, w, b = normal(rng, shape), normal(rng, filters), normal(rng, filters[:1])
        with_bias = number % 3 != 0
        name = label(number, shape, "by", filters, "biased" if with_bias else "plain")
        yield OpCase(Conv3d(**attributes), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    for activation in ACTIVATED:
        inputs = (normal(rng, (1, 3, 4, 3, 5)), normal(rng, (9, 2, 3, 2, 5)) * np.float32(0.3), normal(rng, (9,)))
        yield OpCase(Conv3d(strides=(1, 2, 1), **activation), inputs, label(activation["activation"]), (1, 2))
    inputs = (normal(rng, (1, 3, 4, 3, 5)), normal(rng, (9, 2, 3, 2, 5)), normal(rng, (9,)))
    yield OpCase(Conv3d(), inputs, "filter_computed")
    yield OpCase(Conv3d(), tuple(array.astype(np.float16) for array in inputs), "f16", (1, 2))
