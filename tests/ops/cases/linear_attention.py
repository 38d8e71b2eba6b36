"""Cases of linear_attention."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.linear_attention import LinearAttention
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform

# Batch, length, heads of queries and of keys, sizes of keys and values.
_SIZES = ((1, 1, 1, 1, 1, 1), (2, 5, 2, 2, 4, 3), (1, 7, 4, 2, 3, 9), (3, 4, 6, 1, 8, 5), (1, 16, 3, 3, 16, 17))


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (batch, length, q_heads, heads, keys, values) in enumerate(_SIZES):
        for gated in (False, True):
            for corrected in (False, True):
                inputs = [
                    normal(rng, (batch, length, q_heads * keys)),
                    normal(rng, (batch, length, heads * keys)) * np.float32(0.3),
                    normal(rng, (batch, length, heads * values)),
                    normal(rng, (batch, heads, keys, values)),
                ]
                if gated:
                    inputs.append(uniform(rng, (batch, length, heads * (keys if number % 2 else 1)), -2, 0))
                if corrected:
                    inputs.append(uniform(rng, (batch, length, 1 if number % 2 else heads), 0, 1))
                op = LinearAttention(q_heads, heads, 0.5, gated, corrected)
                yield OpCase(op, tuple(inputs), label(number, gated, corrected))
    halves = tuple(normal(rng, shape, np.float16) for shape in ((1, 3, 8), (1, 3, 4), (1, 3, 6), (1, 2, 2, 3)))
    yield OpCase(LinearAttention(4, 2, 1.0, False, False), halves, "f16")
