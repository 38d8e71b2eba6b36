"""Cases of qlinear_matmul."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.qlinear_matmul import QlinearMatmul
from tests.ops.case import OpCase
from tests.ops.cases.matmul_integer import SHAPES
from tests.ops.inputs import Rng, label
from tests.ops.quantised import BYTE_PAIRS, scale, whole_range, zero_point

ONNX = ("QLinearMatMul",)


def _case(
    rng: Rng, a: tuple[int, ...], b: tuple[int, ...], types: tuple[Any, Any, Any], columns: tuple[int, ...]
) -> OpCase:
    inputs = (
        whole_range(rng, a, types[0]),
        scale(rng, ()),
        zero_point(rng, (), types[0]),
        whole_range(rng, b, types[1]),
        scale(rng, columns),
        zero_point(rng, columns, types[1]),
        scale(rng, (), low=2.0, high=4.0),
        zero_point(rng, (), types[2]),
    )
    name = label(a, "by", b, *(np.dtype(item).name for item in types), "per_column" if columns else "one")
    return OpCase(QlinearMatmul(), inputs, name)


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in SHAPES:
        for left, right in BYTE_PAIRS:
            yield _case(rng, a, b, (left, right, left), ())
    for a, b in SHAPES[1:4]:
        yield _case(rng, a, b, (np.uint8, np.int8, np.uint8), b[-1:])
