"""Cases of deconv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.deconv2d import Deconv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal

# Input, filter (O, KH, KW, C / groups) and attributes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((1, 1, 1, 5), (7, 3, 3, 5), {}),
    ((1, 5, 5, 3), (4, 1, 1, 3), {}),
    ((1, 5, 5, 3), (4, 1, 1, 3), {"strides": (2, 2)}),
    ((1, 5, 4, 3), (4, 3, 3, 3), {}),
    ((1, 5, 4, 3), (4, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 7, 7, 8), (8, 2, 2, 8), {"strides": (2, 2)}),
    ((1, 7, 7, 8), (16, 4, 4, 8), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((2, 7, 5, 8), (3, 3, 3, 8), {"strides": (2, 2), "pads": (1, 1, 1, 1), "output_padding": (1, 1)}),
    ((1, 7, 5, 6), (5, 3, 3, 6), {"strides": (2, 2), "pads": (0, 1, 1, 0)}),
    ((1, 4, 6, 5), (3, 5, 2, 5), {"strides": (3, 1), "pads": (2, 0, 1, 1)}),
    ((1, 4, 6, 5), (3, 5, 2, 5), {"strides": (3, 2), "output_padding": (2, 0)}),
    ((1, 6, 6, 4), (6, 3, 3, 4), {"dilations": (2, 2)}),
    ((1, 6, 5, 4), (6, 3, 2, 4), {"dilations": (2, 3), "strides": (2, 1), "pads": (1, 2, 0, 1)}),
    ((1, 5, 5, 6), (4, 3, 3, 3), {"groups": 2}),
    ((2, 5, 4, 12), (9, 4, 4, 4), {"groups": 3, "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 5, 5, 7), (7, 3, 3, 1), {"groups": 7, "strides": (2, 2)}),
    ((1, 3, 3, 31), (33, 3, 3, 31), {}),
    ((1, 4, 4, 16), (17, 2, 3, 16), {"strides": (4, 5)}),
    ((1, 2, 3, 3), (2, 3, 3, 3), {"strides": (1, 1), "pads": (2, 2, 1, 2)}),
    ((3, 8, 8, 8), (8, 3, 3, 8), {"pads": (1, 1, 1, 1)}),
    ((2, 3, 37, 16), (1, 2, 2, 16), {"strides": (2, 2)}),
    ((1, 3, 67, 9), (2, 4, 4, 9), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 2, 67, 9), (5, 2, 2, 9), {"strides": (2, 2)}),
    ((2, 2, 40, 8), (18, 4, 3, 8), {"strides": (2, 3), "pads": (1, 0, 1, 0)}),
    ((1, 1, 300, 4), (16, 1, 8, 4), {"strides": (1, 4), "pads": (0, 2, 0, 2)}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, filters, attributes) in enumerate(_CASES):
        x, w, b = normal(rng, shape), normal(rng, filters), normal(rng, filters[:1])
        with_bias = number % 3 != 0
        name = label(number, shape, "by", filters, "biased" if with_bias else "plain")
        yield OpCase(Deconv2d(**attributes), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    for activation in ACTIVATED:
        inputs = (normal(rng, (1, 4, 5, 5)), normal(rng, (9, 3, 3, 5)) * np.float32(0.3), normal(rng, (9,)))
        yield OpCase(Deconv2d(strides=(2, 2), **activation), inputs, label(activation["activation"]), (1, 2))
    inputs = (normal(rng, (1, 4, 5, 5)), normal(rng, (9, 3, 3, 5)), normal(rng, (9,)))
    yield OpCase(Deconv2d(), inputs, "filter_computed")
    halves = tuple(array.astype(np.float16) for array in inputs)
    yield OpCase(Deconv2d(strides=(2, 2)), halves, "f16", (1, 2))
