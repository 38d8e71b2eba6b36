"""Cases of attention."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.attention import Attention
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

# Batch, heads of queries and of keys, queries, keys, sizes of queries and of values.
_SIZES = (
    (1, 1, 1, 1, 1, 1, 1),
    (2, 4, 2, 1, 9, 7, 5),
    (1, 2, 2, 3, 33, 16, 24),
    (1, 3, 3, 5, 17, 8, 8),
    (2, 6, 2, 13, 40, 12, 20),
    (1, 2, 1, 61, 61, 32, 33),
    (1, 1, 1, 130, 70, 64, 16),
)
_LAYOUTS = ((0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 0, 0), (0, 0, 1, 1))


def matrix(rng: Rng, shape: tuple[int, int, int, int], tokens_first: int) -> Array:
    batch, heads, tokens, columns = shape
    return normal(rng, (batch, tokens, heads, columns) if tokens_first else shape)


def causal(queries: int, keys: int, missing: float) -> Array:
    """What the last query sees is all keys."""
    seen = np.tri(queries, keys, keys - queries, dtype=bool)
    return np.where(seen | (np.arange(keys) == 0), 0, missing).astype(np.float32)[None, None]


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, (batch, heads, groups, queries, keys, depth, width) in enumerate(_SIZES):
        masks = {
            "plain": None,
            "causal": causal(queries, keys, -np.inf),
            "padding": np.where(rng.random((batch, 1, 1, keys)) < 0.3, np.float32(-3e38), np.float32(0)),
            "bias": normal(rng, (1, heads, queries, keys)),
        }
        for turn, (what, mask) in enumerate(masks.items()):
            firsts = _LAYOUTS[(number + turn) % len(_LAYOUTS)]
            inputs = [
                matrix(rng, (batch, heads, queries, depth), firsts[0]),
                matrix(rng, (batch, groups, keys, depth), firsts[1]),
                matrix(rng, (batch, groups, keys, width), firsts[2]),
                *([] if mask is None else [mask]),
            ]
            yield OpCase(Attention(depth**-0.5, firsts), tuple(inputs), label(number, what, *firsts))
