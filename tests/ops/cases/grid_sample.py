"""Cases of grid_sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.grid_sample import MODES, PADDINGS, GridSample
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform

# Input and output sizes.
_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1, 5, 7, 3), (4, 6)),
    ((2, 4, 4, 9), (3, 3)),
    ((1, 1, 5, 2), (2, 7)),
    ((2, 3, 4, 5, 2), (2, 3, 3)),
    ((1, 9, 4), (11,)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, size) in enumerate(_SHAPES):
        for mode in MODES:
            for padding in PADDINGS:
                # Positions between two elements, so that rounding does not decide what is read.
                grid = uniform(rng, (shape[0], *size, len(size)), -1.7, 1.7)
                op = GridSample(mode, padding, bool((number + len(mode)) % 2))
                yield OpCase(op, (normal(rng, shape), grid), label(number, mode, padding, shape))
    wild = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3.0, -3.0, 0.25], np.float32).reshape(1, 2, 2, 2)
    for padding in ("zeros", "border"):
        yield OpCase(GridSample("linear", padding, False), (normal(rng, (1, 4, 4, 3)), wild), label("wild", padding))
    halves = (normal(rng, (1, 4, 5, 3), np.float16), uniform(rng, (1, 3, 3, 2), -1, 1, np.float16))
    yield OpCase(GridSample("linear", "zeros", True), halves, "f16")
