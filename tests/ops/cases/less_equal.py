"""Cases of less_equal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.less_equal import LessEqual
from tests.ops.case import OpCase
from tests.ops.element_types import binary_types, special
from tests.ops.inputs import Rng, binary, binary_integers, integers, label

ONNX = ("LessOrEqual",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from binary(rng, LessEqual())
    yield from binary_integers(rng, LessEqual())
    yield from binary_types(rng, LessEqual())
    yield OpCase(LessEqual(), (special(1.0, 2.0)[:, None], special(1.0, 2.0)), "special")
    for dtype in (np.float16, np.int32, np.uint8, np.int64):
        numbers = integers(rng, (7, 11), 0, 3, dtype)
        yield OpCase(
            LessEqual(), (numbers, integers(rng, (11,), 0, 3, dtype)), label("often_equal", np.dtype(dtype).name)
        )
