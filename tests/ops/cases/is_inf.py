"""Cases of is_inf."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.is_inf import IsInf
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, int]]]:
    detected = {f"detect_{sign}": int(bool(value)) for sign, value in case.op.attributes().items()}
    yield "IsInf", case.inputs, detected


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES):
        op = IsInf(bool(number & 1), bool(number & 2))
        numbers = rng.choice(np.array([np.inf, -np.inf, np.nan, 0.0, 3e38], np.float32), shape)
        yield OpCase(op, (np.asarray(numbers),), label(shape))
    for negative, positive in ((False, True), (True, False), (True, True)):
        for dtype in (np.float32, np.float16, np.float64):
            numbers = np.array([np.inf, -np.inf, np.nan, 1.0, -0.0], dtype)
            yield OpCase(IsInf(negative, positive), (numbers,), label(np.dtype(dtype).name, negative, positive))
