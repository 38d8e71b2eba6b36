"""Cases of fully_connected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.fully_connected import FullyConnected
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal

_SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1,), 1),
    ((17,), 5),
    ((64,), 32),
    ((1, 1), 1),
    ((1, 7), 3),
    ((1, 64), 10),
    ((1, 128), 127),
    ((1, 1023), 10),
    ((2, 31), 33),
    ((3, 5), 1),
    ((7, 16), 16),
    ((4, 1), 9),
    ((13, 11), 7),
    ((32, 32), 32),
    ((2, 3, 5), 7),
    ((1, 13, 8), 4),
    ((2, 5, 7, 3), 11),
    ((1, 4, 4, 17), 2),
    ((1, 2, 1, 3, 5), 6),
    ((5, 257), 3),
    ((1, 3), 259),
    ((1, 1031), 17),
    ((9, 521), 24),
    ((67, 19), 40),
    ((2, 65), 131),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, units) in enumerate(_SHAPES):
        x, w, b = normal(rng, shape), normal(rng, (units, shape[-1])), normal(rng, (units,))
        with_bias = number % 3 != 0
        name = label(shape, "to", units, "biased" if with_bias else "plain")
        yield OpCase(FullyConnected(), (x, w, b) if with_bias else (x, w), name, (1, 2) if with_bias else (1,))
    for activation in ACTIVATED:
        inputs = (normal(rng, (3, 5)), normal(rng, (9, 5)), normal(rng, (9,)))
        yield OpCase(FullyConnected(**activation), inputs, label(activation["activation"]), (1, 2))
    inputs = (normal(rng, (3, 37)), normal(rng, (11, 37)), normal(rng, (11,)))
    yield OpCase(FullyConnected(), inputs, "weights_computed")
    yield OpCase(FullyConnected(), tuple(array.astype(np.float16) for array in inputs), "f16", (1, 2))
