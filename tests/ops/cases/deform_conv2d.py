"""Cases of deform_conv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.deform_conv2d import DeformConv2d
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform

# Input, filter (O, KH, KW, C / groups) and attributes.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((1, 5, 5, 3), (4, 3, 3, 3), {}),
    ((2, 5, 6, 4), (3, 3, 3, 4), {"pads": (1, 1, 1, 1)}),
    ((1, 7, 6, 4), (6, 2, 3, 2), {"groups": 2, "strides": (2, 1)}),
    ((1, 7, 6, 6), (5, 3, 3, 6), {"offset_groups": 3, "dilations": (2, 1), "pads": (2, 1, 0, 1)}),
    ((1, 5, 5, 8), (8, 3, 3, 2), {"groups": 4, "offset_groups": 2, "pads": (1, 1, 1, 1)}),
    ((2, 4, 4, 17), (33, 2, 2, 17), {}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, filters, attributes) in enumerate(_CASES):
        op = DeformConv2d(**attributes)
        x, w, b = normal(rng, shape), normal(rng, filters), normal(rng, filters[:1])
        size = _output(op, shape, filters)
        taps = op.offset_groups * filters[1] * filters[2]
        offsets, mask = uniform(rng, (*size, taps * 2), -2.5, 2.5), uniform(rng, (*size, taps), 0, 1)
        name = label(number, shape, "by", filters)
        yield OpCase(op, (x, w, offsets), f"{name}_plain", (1,))
        yield OpCase(op, (x, w, offsets, b), f"{name}_biased", (1, 3))
        yield OpCase(op, (x, w, offsets, b, mask), f"{name}_masked", (1, 3))
    wild = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 0, 0.5, -0.5], np.float32).reshape(1, 2, 2, 2)
    inputs = (normal(rng, (1, 2, 2, 3)), normal(rng, (2, 1, 1, 3)), wild)
    yield OpCase(DeformConv2d(), inputs, "wild_offsets", (1,))
    halves = (normal(rng, (1, 3, 3, 2), np.float16), normal(rng, (2, 1, 1, 2), np.float16))
    yield OpCase(DeformConv2d(), (*halves, normal(rng, (1, 3, 3, 2), np.float16)), "f16", (1,))


def _output(op: DeformConv2d, shape: tuple[int, ...], filters: tuple[int, ...]) -> tuple[int, ...]:
    sides = []
    for axis in (0, 1):
        room = shape[1 + axis] + op.pads[axis] + op.pads[axis + 2] - (filters[1 + axis] - 1) * op.dilations[axis] - 1
        sides.append(room // op.strides[axis] + 1)
    return (shape[0], *sides)
