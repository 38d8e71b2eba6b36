"""Cases of qlinear_conv."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.qlinear_conv import QlinearConv
from tests.ops.case import OpCase
from tests.ops.cases.conv_integer import GEOMETRIES, onnx_attributes
from tests.ops.inputs import Rng, integers, label
from tests.ops.quantised import BYTE_PAIRS, scale, whole_range, zero_point

_TO_CHANNELS_FIRST = (0, 3, 1, 2)
_CONSTANTS = (1, 2, 3, 4, 5, 6, 7, 8)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    x, x_scale, x_zero, w, *rest = case.inputs
    operands = (x.transpose(_TO_CHANNELS_FIRST), x_scale, x_zero, w.transpose(_TO_CHANNELS_FIRST), *rest)
    yield "QLinearConv", operands, onnx_attributes(case.op)
    yield "Transpose", (), {"perm": [0, 2, 3, 1]}


def _case(rng: Rng, number: int, types: tuple[Any, Any, Any], per_channel: bool, bias: bool) -> OpCase:
    image, filters, attributes = GEOMETRIES[number]
    x, w, y = types
    row = (filters[0],) if per_channel else ()
    inputs = (
        whole_range(rng, image, x),
        scale(rng, ()),
        zero_point(rng, (), x),
        whole_range(rng, filters, w),
        scale(rng, row),
        np.zeros(row, w) if per_channel else zero_point(rng, row, w),
        scale(rng, (), low=2.0, high=4.0),
        zero_point(rng, (), y),
    )
    added = (integers(rng, filters[:1], -9999, 9999, np.int32),) if bias else ()
    name = label(number, *(np.dtype(item).name for item in types), "row" if per_channel else "one", "bias" * bias)
    return OpCase(QlinearConv(**attributes), inputs + added, name, _CONSTANTS[: 7 + bias])


def cases(rng: Rng) -> Iterator[OpCase]:
    for number in range(len(GEOMETRIES)):
        for x, w in BYTE_PAIRS:
            yield _case(rng, number, (x, w, x), False, number % 2 == 0)
        yield _case(rng, number, (np.uint8, np.int8, np.uint8), True, True)
        yield _case(rng, number, (np.int8, np.int8, np.int8), True, False)
