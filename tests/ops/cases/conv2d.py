"""Cases of conv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.conv2d import Conv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal
from tests.ops.winograd import winograd_cases

# Input, filter (O, KH, KW, C / groups) and attributes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((1, 1, 1, 17), (13, 1, 1, 17), {}),
    ((1, 7, 7, 3), (5, 1, 1, 3), {}),
    ((1, 8, 8, 16), (32, 1, 1, 16), {}),
    ((3, 5, 4, 8), (7, 1, 1, 8), {"strides": (2, 2)}),
    ((1, 7, 7, 3), (5, 3, 3, 3), {}),
    ((1, 7, 7, 3), (8, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 13, 11, 4), (16, 3, 3, 4), {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    ((1, 13, 11, 4), (16, 3, 3, 4), {"pads": (0, 0, 1, 1), "strides": (2, 2)}),
    ((2, 14, 14, 8), (8, 3, 3, 8), {"pads": (1, 1, 1, 1)}),
    ((1, 16, 16, 16), (16, 3, 3, 16), {"pads": (1, 1, 1, 1)}),
    ((1, 9, 17, 2), (3, 5, 3, 2), {"pads": (2, 0, 1, 3)}),
    ((1, 9, 17, 2), (3, 1, 7, 2), {"strides": (1, 3), "pads": (0, 3, 0, 3)}),
    ((1, 9, 17, 2), (3, 7, 1, 2), {"strides": (3, 1), "pads": (3, 0, 3, 0)}),
    ((1, 11, 11, 5), (6, 3, 3, 5), {"dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 11, 13, 5), (6, 3, 2, 5), {"dilations": (2, 3), "strides": (2, 1), "pads": (1, 0, 2, 1)}),
    ((1, 7, 7, 6), (4, 3, 3, 3), {"groups": 2, "pads": (1, 1, 1, 1)}),
    ((2, 6, 5, 12), (9, 3, 3, 4), {"groups": 3, "strides": (2, 2)}),
    ((1, 5, 5, 7), (14, 3, 3, 1), {"groups": 7, "pads": (1, 1, 1, 1)}),
    ((1, 3, 3, 31), (33, 3, 3, 31), {}),
    ((1, 2, 2, 3), (4, 2, 2, 3), {"pads": (3, 3, 3, 3), "strides": (2, 3)}),
    ((1, 23, 19, 1), (3, 11, 11, 1), {"strides": (4, 4), "pads": (5, 5, 5, 5)}),
    ((1, 4, 4, 64), (37, 3, 3, 64), {"pads": (1, 1, 1, 1)}),
    ((1, 7, 7, 33), (58, 1, 1, 33), {}),
    ((2, 7, 5, 29), (24, 1, 1, 29), {"activation": "relu"}),
    ((1, 3, 5, 521), (9, 1, 1, 521), {}),  # so deep that sums are interrupted
    ((1, 3, 3, 1031), (12, 1, 1, 1031), {"activation": "clip", "activation_alpha": -20.0, "activation_beta": 30.0}),
    ((1, 5, 3, 131), (17, 3, 3, 131), {"pads": (1, 1, 1, 1), "activation": "relu"}),
    ((1, 13, 11, 8), (20, 1, 1, 4), {"groups": 2, "strides": (2, 3)}),
    ((2, 11, 7, 6), (22, 3, 3, 3), {"groups": 2, "dilations": (1, 2), "pads": (1, 2, 1, 2)}),
    ((1, 1, 1, 67), (131, 1, 1, 67), {}),
    ((1, 19, 17, 3), (16, 5, 5, 3), {"strides": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 15, 9, 2), (40, 1, 1, 2), {}),
    ((2, 61, 23, 3), (20, 3, 5, 3), {"strides": (2, 1), "dilations": (2, 1), "pads": (3, 2, 0, 5)}),
)

# Few outputs, which have a kernel of their own.
_FEW: tuple[tuple[tuple[int, ...], int, str], ...] = (
    ((1, 5, 7, 8), 1, "none"),
    ((2, 5, 5, 21), 2, "swish"),
    ((1, 3, 11, 16), 3, "none"),
    ((1, 7, 7, 35), 4, "relu"),
)

# Of few channels, whose lines of output are shorter than a chunk.
_NARROW: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((2, 25, 10, 1), (9, 10, 4, 1), {"strides": (2, 2), "pads": (4, 1, 5, 2), "activation": "relu"}),
    ((1, 40, 3, 2), (5, 3, 3, 2), {"pads": (1, 1, 1, 1)}),
    ((1, 64, 20, 3), (6, 2, 5, 3), {"strides": (4, 5)}),
    ((3, 7, 1, 4), (4, 5, 3, 4), {"pads": (6, 1, 6, 1)}),
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
        yield OpCase(Conv2d(**attributes), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    for activation in ACTIVATED:
        inputs = (normal(rng, (1, 6, 7, 5)), normal(rng, (9, 3, 3, 5)) * np.float32(0.3), normal(rng, (9,)))
        yield OpCase(Conv2d(pads=(1, 1, 1, 1), **activation), inputs, label(activation["activation"]), (1, 2))
    for activation in ({"activation": "none"}, {"activation": "relu"}):
        inputs = (normal(rng, (2, 6, 7, 5)), normal(rng, (9, 3, 3, 5)), normal(rng, (9,)), normal(rng, (2, 3, 4, 9)))  # type: ignore[assignment]
        attributes = {"pads": (1, 1, 1, 1), "strides": (2, 2), **activation}
        yield OpCase(Conv2d(**attributes), inputs, label("residual", activation["activation"]), (1, 2))
    for shape, filters, groups in (
        ((2, 5, 7, 11), (16, 1, 1, 11), 1),
        ((1, 3, 5, 1031), (13, 1, 1, 1031), 1),
        ((1, 7, 7, 16), (10, 1, 1, 8), 2),
        ((1, 5, 5, 131), (8, 3, 3, 131), 1),
    ):
        pads = (filters[1] // 2,) * 4
        inputs = (  # type: ignore[assignment]
            normal(rng, shape),
            normal(rng, filters),
            normal(rng, filters[:1]),
            normal(rng, (*shape[:3], filters[0])),
        )
        yield OpCase(Conv2d(pads=pads, groups=groups, activation="relu"), inputs, label("residual", shape), (1, 2))
    inputs = (normal(rng, (1, 6, 7, 5)), normal(rng, (9, 3, 3, 5)), normal(rng, (9,)))
    yield OpCase(Conv2d(), inputs, "filter_computed")
    halves = tuple(array.astype(np.float16) for array in inputs)
    yield OpCase(Conv2d(pads=(1, 1, 1, 1)), halves, "f16", (1, 2))
    yield from winograd_cases(rng)
    yield from _few(rng)
    for shape, filters, attributes in _NARROW:
        arrays = (normal(rng, shape), normal(rng, filters), normal(rng, filters[:1]))
        yield OpCase(Conv2d(**attributes), arrays, label("narrow", shape, filters), (1, 2))


def _few(rng: Rng) -> Iterator[OpCase]:
    for shape, outputs, activation in _FEW:
        for operands in (2, 3, 4):
            inputs = (
                normal(rng, shape),
                normal(rng, (outputs, 1, 1, shape[3])),
                normal(rng, (outputs,)),
                normal(rng, (*shape[:3], outputs)),
            )[:operands]
            name = label("few", shape, "to", outputs, "of", operands)
            yield OpCase(Conv2d(activation=activation), inputs, name, tuple(range(1, min(operands, 3))))
