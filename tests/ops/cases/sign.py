"""Cases of sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.sign import Sign
from tests.ops.case import OpCase
from tests.ops.element_types import NUMBERS, unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Sign",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Sign(), -2.0, 2.0)
    yield from unary_types(rng, Sign(), NUMBERS)
    yield OpCase(Sign(), (np.array([0.0, np.inf, -np.inf, 1e-40, -3e38], np.float32),), "special")
