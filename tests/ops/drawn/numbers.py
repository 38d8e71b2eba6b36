"""Sizes, shapes and elements that the drawn cases of several operators are made of."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array
from tests.ops.activations import ACTIVATED

# Channels, rows and columns: few, or around the widths of vectors, panels and blocks.
CHANNELS = (
    st.integers(1, 9) | st.sampled_from((15, 16, 17, 24, 31, 32, 33, 48, 53, 63, 64, 65, 67)) | st.integers(1, 80)
)
BATCHES = st.sampled_from((1, 1, 1, 2, 3))
ACTIVATIONS = st.sampled_from(({}, {}, {}, *ACTIVATED))
_SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def generators(draw: st.DrawFn) -> np.random.Generator:
    """What makes elements: hypothesis draws shapes, but numbers only as a seed."""
    return np.random.default_rng(draw(_SEEDS))


@st.composite
def shapes(draw: st.DrawFn, least_rank: int = 0, most_rank: int = 5, most: int = 2000) -> tuple[int, ...]:
    """A shape of at most so many elements, one axis of which may be long."""
    rank = draw(st.integers(least_rank, most_rank))
    dims: list[int] = []
    long = draw(st.integers(0, max(rank - 1, 0)))
    for axis in range(rank):
        dims.append(draw(st.integers(1, 7)))
        if axis == long:
            dims[-1] = draw(CHANNELS | st.integers(1, 1100))
    while np.prod(dims, dtype=np.int64) > most:
        largest = int(np.argmax(dims))
        dims[largest] = -(-dims[largest] // 2)
    return tuple(dims)


def scaled(rng: np.random.Generator, shape: tuple[int, ...], terms: int) -> Array:
    """Factors for sums of so many products, which are then about as large as the other factors."""
    return np.asarray(rng.standard_normal(shape) / np.sqrt(max(terms, 1)), np.float32)
