"""Cases of dwconv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.dwconv2d import DwConv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
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
    ((1, 9, 10, 24), (7, 7), {"pads": (3, 3, 3, 3)}),
    ((1, 10, 9, 71), (3, 3), {"dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 9, 8, 16), (3, 3), {"strides": (3, 3), "pads": (1, 1, 1, 1)}),
    ((1, 9, 8, 17), (3, 3), {"strides": (2, 1), "pads": (1, 1, 1, 1)}),
    ((1, 8, 9, 20), (2, 2), {"strides": (2, 2)}),
    ((1, 9, 8, 19), (3, 3), {"strides": (1, 2), "pads": (1, 1, 1, 1)}),
    ((1, 9, 8, 33), (5, 5), {"strides": (2, 1), "pads": (2, 2, 2, 2)}),
    ((1, 8, 19, 50), (5, 5), {"strides": (1, 2), "pads": (0, 9, 1, 0)}),
)

# Windows that have kernels of their own, around the widths of vectors. Images as high, wide and padded as their borders
# and the steps of the kernels can make a difference.
_SWEPT: tuple[tuple[tuple[int, ...], tuple[int, int, int, int]], ...] = (
    ((1, 1, 1, 16), (1, 1, 1, 1)),
    ((1, 5, 5, 17), (0, 0, 0, 0)),
    ((2, 7, 7, 32), (1, 1, 1, 1)),
    ((2, 8, 11, 23), (2, 2, 2, 2)),
    ((1, 13, 6, 58), (0, 1, 1, 0)),
    ((1, 6, 13, 31), (1, 0, 0, 1)),
    ((1, 3, 29, 19), (2, 1, 2, 1)),
    ((1, 5, 2, 37), (4, 6, 5, 7)),
    ((1, 12, 9, 16), (0, 0, 1, 1)),
)

# So many channels that columns fall into few sets of a cache: two vectors of them go together.
_CROWDED: tuple[tuple[tuple[int, ...], tuple[int, int, int, int], int], ...] = (
    ((1, 3, 7, 256), (1, 1, 1, 1), 1),
    ((1, 4, 8, 256), (0, 2, 2, 0), 2),
    ((1, 2, 4, 768), (1, 0, 1, 3), 1),
)

# So large that the columns go by in blocks.
_LARGE: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((1, 3, 2701, 16), 3, 1),
    ((1, 4, 3301, 16), 3, 2),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)
    yield from _activated(rng, ((1, 8, 9, 35), 7, 1))  # sums of so many products are not close in half precision
    yield from _crowded(rng)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, kernel, attributes) in enumerate(_CASES):
        channels = shape[3] * attributes.get("multiplier", 1)
        x, w, b = normal(rng, shape), normal(rng, (*kernel, channels)), normal(rng, (channels,))
        with_bias = number % 3 != 0
        name = label(number, shape, "by", kernel, "biased" if with_bias else "plain")
        yield OpCase(DwConv2d(**attributes), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    yield from _swept(rng)
    yield from _activated(rng, ((1, 6, 7, 19), 3, 1), ((1, 5, 6, 67), 5, 2), ((1, 4, 4, 18), 2, 1))
    inputs = (normal(rng, (1, 6, 7, 5)), normal(rng, (3, 3, 5)), normal(rng, (5,)))
    yield OpCase(DwConv2d(), inputs, "filter_computed")
    halves = tuple(array.astype(np.float16) for array in inputs)
    yield OpCase(DwConv2d(pads=(1, 1, 1, 1)), halves, "f16", (1, 2))


def _activated(rng: Rng, *windows: tuple[tuple[int, ...], int, int]) -> Iterator[OpCase]:
    """Images, sides of square windows and strides."""
    for activation in ACTIVATED:
        for shape, size, stride in windows:
            inputs = (normal(rng, shape), normal(rng, (size, size, shape[3])), normal(rng, shape[3:]))
            pads = (size // 2,) * 4
            name = label(activation["activation"], shape, "by", (size, size))
            yield OpCase(DwConv2d(pads=pads, strides=(stride, stride), **activation), inputs, name, (1, 2))


def _swept(rng: Rng) -> Iterator[OpCase]:
    for kernel in (3, 5, 7):
        for strides in ((1, 1), (2, 2)) if kernel < 7 else ((1, 1), (2, 1), (2, 2)):
            for number, (shape, pads) in enumerate(_SWEPT):
                if min(shape[1] + pads[0] + pads[2], shape[2] + pads[1] + pads[3]) < kernel:
                    continue
                inputs = (normal(rng, shape), normal(rng, (kernel, kernel, shape[3])), normal(rng, shape[3:]))
                taken = inputs[: 2 + number % 2]
                name = label("swept", number, shape, "by", (kernel, kernel), "stride", *dict.fromkeys(strides))
                yield OpCase(DwConv2d(pads=pads, strides=strides), taken, name, tuple(range(1, len(taken))))
    for shape, kernel, stride in _LARGE:
        inputs = (normal(rng, shape), normal(rng, (kernel, kernel, shape[3])), normal(rng, shape[3:]))
        op = DwConv2d(pads=(kernel // 2,) * 4, strides=(stride, stride))
        # A constant image has no variants with symbols, which would be large files too.
        yield OpCase(op, inputs, label("large", shape, "by", (kernel, kernel), "stride", stride), (0,))


def _crowded(rng: Rng) -> Iterator[OpCase]:
    for shape, pads, stride in _CROWDED:
        inputs = (normal(rng, shape), normal(rng, (3, 3, shape[3])), normal(rng, shape[3:]))
        op = DwConv2d(pads=pads, strides=(stride, stride))
        yield OpCase(op, inputs, label("crowded", shape, "by", (3, 3), "stride", stride), (1, 2))
