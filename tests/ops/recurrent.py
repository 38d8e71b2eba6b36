"""Sequences that the recurrent operators are tested with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._recurrent import FUNCTIONS
from tests.ops.inputs import Rng, label, normal

# Steps, batch, size of the state.
SIZES = ((1, 1, 1), (5, 1, 3), (4, 2, 7), (7, 3, 8), (3, 5, 17), (12, 1, 33))


def sequences(rng: Rng, gates: int, states: int) -> Iterator[tuple[str, dict[str, Any], list[Array], Array]]:
    """Name, common attributes, the inputs up to the states, and lengths, some of them out of range."""
    for number, (steps, batch, hidden) in enumerate(SIZES):
        for reverse in (False, True):
            starts = [normal(rng, (1 if number % 2 else batch, hidden)) for _ in range(states)]
            inputs = [normal(rng, (steps, batch, gates * hidden)), _weights(rng, gates, hidden), *starts]
            lengths = rng.integers(-1, steps + 2, batch).astype(np.int32)
            yield label((steps, batch, hidden), reverse), {"function_f": "sigmoid", "reverse": reverse}, inputs, lengths
    for function in FUNCTIONS:
        attributes = {
            "function_f": function,
            "function_g": function,
            "function_h": function,
            "alphas": (0.3, 0.5, 0.7),
            "betas": (0.2, 0.4, 0.6),
            "clip": 0.8,
        }
        inputs = [normal(rng, (3, 2, gates * 5)), _weights(rng, gates, 5), *(normal(rng, (2, 5)),) * states]
        yield function, attributes, inputs, np.array([3, 2], np.int32)


def _weights(rng: Rng, gates: int, hidden: int) -> Array:
    return np.asarray(normal(rng, (gates * hidden, hidden)) * np.float32(hidden**-0.5))
