"""Cases of conv_integer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.conv_integer import ConvInteger
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label
from tests.ops.quantised import BYTE_PAIRS, whole_range, zero_point

# Image, filter, attributes: pointwise, strided, padded unevenly, dilated, grouped, depthwise, no multiple of anything.
GEOMETRIES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 5, 7, 3), (8, 1, 1, 3), {}),
    ((2, 6, 5, 4), (5, 3, 3, 4), {"pads": (1, 1, 1, 1)}),
    ((1, 9, 9, 17), (9, 3, 2, 17), {"strides": (2, 2), "pads": (0, 1, 2, 0)}),
    ((1, 8, 11, 2), (3, 3, 3, 2), {"dilations": (2, 3), "pads": (2, 3, 2, 3)}),
    ((1, 6, 6, 8), (12, 3, 3, 2), {"groups": 4, "pads": (1, 1, 1, 1)}),
    ((1, 7, 5, 13), (13, 3, 3, 1), {"groups": 13, "pads": (1, 1, 1, 1), "strides": (2, 1)}),
    ((1, 4, 4, 3), (6, 2, 2, 1), {"groups": 3}),
    ((1, 9, 7, 37), (37, 5, 3, 1), {"groups": 37, "pads": (2, 1, 2, 0), "strides": (2, 1)}),
    ((1, 6, 7, 32), (24, 3, 3, 16), {"groups": 2, "pads": (1, 1, 1, 1), "strides": (1, 2)}),
    ((2, 9, 7, 20), (41, 3, 3, 20), {"pads": (1, 0, 1, 2), "strides": (2, 1)}),
    ((1, 8, 6, 9), (18, 3, 2, 9), {"dilations": (2, 3), "pads": (2, 3, 2, 3)}),
)
_TO_CHANNELS_FIRST = (0, 3, 1, 2)


def onnx_attributes(op: Any) -> dict[str, Any]:
    return {"group": op.groups, "strides": list(op.strides), "pads": list(op.pads), "dilations": list(op.dilations)}


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    x, w, x_zero, w_zero = case.inputs
    operands = (x.transpose(_TO_CHANNELS_FIRST), w.transpose(_TO_CHANNELS_FIRST), x_zero, w_zero)
    yield "ConvInteger", operands, onnx_attributes(case.op)
    yield "Transpose", (), {"perm": [0, 2, 3, 1]}


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (image, filters, attributes) in enumerate(GEOMETRIES):
        for x, w in BYTE_PAIRS:
            inputs = (
                whole_range(rng, image, x),
                whole_range(rng, filters, w),
                zero_point(rng, (), x),
                zero_point(rng, (), w),
            )
            name = label(number, np.dtype(x).name, np.dtype(w).name)
            yield OpCase(ConvInteger(**attributes), inputs, name, (1, 2, 3))
    inputs = (
        whole_range(rng, (1, 5, 5, 3), np.uint8),
        whole_range(rng, (9, 3, 3, 3), np.int8),
        zero_point(rng, (), np.uint8),
        zero_point(rng, (9,), np.int8),
    )
    yield OpCase(ConvInteger(), inputs, "zero_point_per_channel", (1, 2, 3))
