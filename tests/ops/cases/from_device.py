"""Cases of from_device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.from_device import FromDevice
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, unary


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, FromDevice())
    for dtype in (np.int8, np.uint8, np.int32, np.int64):
        yield OpCase(FromDevice(), (integers(rng, (3, 11), 0, 100, dtype),), np.dtype(dtype).name)
    yield OpCase(FromDevice(), (integers(rng, (3, 11), 0, 2, np.bool_),), "bool")
