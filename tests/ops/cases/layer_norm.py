"""Cases of layer_norm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.layer_norm import LayerNorm
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label, normal


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, shape in enumerate(SHAPES[1:]):
        axis = len(shape) - 1 if number % 3 else number % len(shape)
        row = shape[axis:]
        operands = (normal(rng, row), normal(rng, row))[: number % 3]
        inputs = (normal(rng, shape) * np.float32(3) + np.float32(1), *operands)
        constants = tuple(range(1, len(inputs))) if number % 2 else ()
        yield OpCase(LayerNorm(axis, 1e-5), inputs, label(shape, "from", axis, len(inputs)), constants)
    far = normal(rng, (4, 65)) + np.float32(1000)
    yield OpCase(LayerNorm(1, 1e-5), (far,), "far_from_zero")
    rows = (normal(rng, (11, 517)), normal(rng, (517,)), normal(rng, (517,)))
    yield OpCase(LayerNorm(1, 1e-5), rows, "long_rows", (1, 2))
    yield OpCase(LayerNorm(1, 1e-3), (np.ones((3, 7), np.float32),), "no_variance")
    halves = (normal(rng, (3, 37), np.float16), normal(rng, (37,), np.float16))
    yield OpCase(LayerNorm(1, 1e-5), halves, "f16")
