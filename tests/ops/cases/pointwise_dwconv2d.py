"""Cases of pointwise_dwconv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.pointwise_dwconv2d import PointwiseDwConv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal

# Input, depthwise filter (KH, KW), channels between and attributes.
_SAME: dict[str, Any] = {"pads": (1, 1, 1, 1)}
_HALVED = {"pads": (0, 0, 1, 1), "strides": (2, 2)}
_CASES: tuple[tuple[tuple[int, ...], tuple[int, int], int, dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1), 1, {}),
    ((1, 1, 1, 16), (3, 3), 16, _SAME),
    ((1, 7, 7, 3), (3, 3), 5, _SAME),
    ((1, 7, 7, 8), (3, 3), 17, {}),
    ((2, 9, 11, 7), (3, 3), 19, _SAME),
    ((1, 14, 14, 32), (3, 3), 64, _SAME),
    ((1, 13, 15, 33), (3, 3), 29, _HALVED),
    ((2, 28, 27, 6), (3, 3), 24, _HALVED),
    ((1, 5, 120, 16), (3, 3), 24, _SAME),
    ((1, 6, 131, 5), (3, 3), 33, _HALVED),
    ((1, 33, 3, 20), (3, 3), 16, _SAME),
    ((3, 35, 5, 4), (3, 3), 31, _HALVED),
    ((1, 3, 29, 19), (3, 3), 18, {"pads": (2, 1, 2, 1)}),
    ((1, 5, 2, 6), (3, 3), 37, {"pads": (4, 6, 5, 7)}),
    ((1, 6, 2, 6), (3, 3), 37, {"pads": (7, 6, 5, 7), "strides": (2, 2)}),
    ((1, 11, 61, 16), (3, 3), 48, {"strides": (2, 2)}),
    ((1, 8, 9, 23), (5, 5), 9, {"pads": (2, 2, 2, 2)}),
    ((1, 8, 9, 5), (5, 3), 21, {"pads": (2, 0, 1, 3), "strides": (1, 2)}),
    ((1, 11, 11, 17), (3, 3), 13, {"dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 29, 8, 16), (3, 3), 16, {"strides": (3, 3), **_SAME}),
    ((1, 10, 10, 70), (3, 3), 130, _SAME),
    ((3, 4, 5, 16), (2, 2), 16, {}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, kernel, outputs, attributes) in enumerate(_CASES):
        op = PointwiseDwConv2d(**attributes, pointwise_activation="relu", activation=("none", "relu")[number % 2])
        yield _case(rng, op, shape, kernel, outputs, label(number, shape, "by", kernel, "to", outputs))
    for activation in ACTIVATED:
        inner = {f"pointwise_{name}": value for name, value in activation.items()}
        op = PointwiseDwConv2d(**_SAME, **activation, **inner)
        yield _case(rng, op, (1, 6, 11, 7), (3, 3), 21, label(activation["activation"]))
    case = _case(rng, PointwiseDwConv2d(**_SAME), (1, 6, 7, 5), (3, 3), 18, "filters_computed")
    yield OpCase(case.op, case.inputs, case.name)
    halves = tuple(array.astype(np.float16) for array in case.inputs)
    yield OpCase(case.op, halves, "f16", (1, 2, 3, 4))


def _case(
    rng: Rng, op: PointwiseDwConv2d, shape: tuple[int, ...], kernel: tuple[int, int], channels: int, name: str
) -> OpCase:
    sizes = (shape, (channels, 1, 1, shape[3]), (channels,), (*kernel, channels), (channels,))
    return OpCase(op, tuple(normal(rng, size) for size in sizes), name, (1, 2, 3, 4))
