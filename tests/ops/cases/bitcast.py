"""Cases of bitcast."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.types import dtype_of
from buildtool.ops.bitcast import Bitcast
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, integers, label

_SAME_SIZE = (
    (np.int8, np.uint8),
    (np.int16, np.uint16, np.float16),
    (np.int32, np.uint32, np.float32),
    (np.int64, np.uint64, np.float64),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, kinds in enumerate(_SAME_SIZE):
        for before in kinds:
            for after in kinds:
                shape = ((17,), (3, 5), (2, 3, 5), ())[number]
                to = dtype_of(np.zeros(0, after))
                name = label(np.dtype(before).name, "as", np.dtype(after).name)
                yield OpCase(Bitcast(to), (integers(rng, shape, 0, 99, before),), name)
