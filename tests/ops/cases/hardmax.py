"""Cases of hardmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.hardmax import Hardmax
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS
from tests.ops.inputs import SHAPES, Rng, integers, label, normal

ONNX = ("Hardmax", "axis")


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        axis = number % len(shape)
        yield OpCase(Hardmax(axis), (normal(rng, shape),), label(shape, "along", axis))
    for dtype in (np.float32, *FLOATS):
        yield OpCase(Hardmax(1), (integers(rng, (3, 9, 5), 0, 3, dtype),), label("ties", np.dtype(dtype).name))
