"""Cases of celu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.celu import Celu
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, label, unary, uniform

ONNX = ("Celu", "alpha")


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Celu(1.0), -4.0, 4.0)
    yield from unary_types(rng, Celu(1.0))
    yield OpCase(Celu(1.0), (np.array([0.0, 100.0, -100.0, -1e-6], np.float32),), "special")
    for alpha in (0.3, 2.0):
        yield OpCase(Celu(alpha), (uniform(rng, (2, 19), -4, 4),), label("alpha", alpha))
