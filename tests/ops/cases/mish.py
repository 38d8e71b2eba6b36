"""Cases of mish."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.mish import Mish
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Mish",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Mish(), -6.0, 6.0)
    yield from unary_types(rng, Mish())
    yield OpCase(Mish(), (np.array([0.0, 100.0, -100.0, 20.0, -20.0, 1e-20], np.float32),), "special")
