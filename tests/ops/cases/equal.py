"""Cases of equal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.equal import Equal
from tests.ops.case import OpCase
from tests.ops.element_types import binary_types, special
from tests.ops.inputs import Rng, binary, binary_integers, integers, label

ONNX = ("Equal",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, Equal())
    yield from binary_integers(rng, Equal())
    yield from binary_types(rng, Equal())
    yield OpCase(Equal(), (special(1.0, 2.0)[:, None], special(1.0, 2.0)), "special")
    for dtype in (np.float16, np.int32, np.uint8, np.int64):
        numbers = integers(rng, (7, 11), 0, 3, dtype)
        yield OpCase(Equal(), (numbers, integers(rng, (11,), 0, 3, dtype)), label("often_equal", np.dtype(dtype).name))
    flags = integers(rng, (5, 7), 0, 2, np.bool_), integers(rng, (7,), 0, 2, np.bool_)
    yield OpCase(Equal(), flags, "bool")
