"""Cases of to_device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.to_device import ToDevice
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, ToDevice())
    for dtype in (np.int8, np.uint8, np.int32, np.int64):
        yield OpCase(ToDevice(), (integers(rng, (3, 11), 0, 100, dtype),), np.dtype(dtype).name)
    yield OpCase(ToDevice(), (integers(rng, (3, 11), 0, 2, np.bool_),), "bool")
