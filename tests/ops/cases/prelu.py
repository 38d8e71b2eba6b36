"""Cases of prelu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.prelu import Prelu
from tests.ops.case import OpCase
from tests.ops.element_types import between
from tests.ops.inputs import SHAPES, Rng, label, normal, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape, slope in (*((shape, ()) for shape in SHAPES[1:6]), *((shape, shape[-1:]) for shape in SHAPES[6:])):
        yield OpCase(Prelu(), (normal(rng, shape), uniform(rng, slope, -0.5, 1)), label(shape, "with", slope), (1,))
    yield OpCase(Prelu(), (normal(rng, ()), np.array(0.25, np.float32)), "scalars", (1,))
    yield OpCase(Prelu(), (normal(rng, (2, 5, 7, 3)), uniform(rng, (5, 7, 1), -0.5, 1)), "per_pixel", (1,))
    yield OpCase(Prelu(), (normal(rng, (2, 5, 7, 3)), uniform(rng, (2, 1, 1, 3), -0.5, 1)), "per_batch")
    yield OpCase(
        Prelu(), (normal(rng, (3, 37), np.float16), uniform(rng, (37,), -0.5, 1, np.float16)), "f16_3x37", (1,)
    )
    for dtype in (np.float64, np.int32, np.int64, np.uint32, np.uint64):
        make = between(-9, 9)
        yield OpCase(
            Prelu(), (make(rng, (2, 5, 7), dtype), make(rng, (5, 1), dtype)), label("of", np.dtype(dtype).name)
        )
