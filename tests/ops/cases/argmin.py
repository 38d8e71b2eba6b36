"""Cases of argmin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.argmin import Argmin
from tests.ops.case import OpCase
from tests.ops.element_types import NUMBERS
from tests.ops.inputs import SHAPES, Rng, integers, label, normal

ONNX = ("ArgMin", "axis", "keepdims", "select_last_index")


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        op = Argmin(number % len(shape), bool(number & 1), bool(number & 2))
        yield OpCase(op, (normal(rng, shape),), label(shape, "along", op.axis, number & 1, number & 2))
    for last in (False, True):
        for dtype in NUMBERS:
            few = integers(rng, (5, 9, 3), 0, 4, dtype)
            yield OpCase(Argmin(1, False, last), (few,), label("last" if last else "first", np.dtype(dtype).name))
        endless = np.array([[1, np.inf, np.inf, -np.inf], [-np.inf, -np.inf, -np.inf, -np.inf]], np.float32)
        yield OpCase(Argmin(1, True, last), (endless,), label("infinite", last))
