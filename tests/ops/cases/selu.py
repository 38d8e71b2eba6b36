"""Cases of selu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.selu import Selu
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary, uniform

ONNX = ("Selu", "alpha", "gamma")


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Selu(1.6732632, 1.050701), -4.0, 4.0)
    yield from unary_types(rng, Selu(1.6732632, 1.050701))
    yield OpCase(Selu(1.6732632, 1.050701), (np.array([0.0, 100.0, -100.0, -1e-6], np.float32),), "special")
    yield OpCase(Selu(2.0, 0.5), (uniform(rng, (2, 19), -4, 4),), "other_numbers")
