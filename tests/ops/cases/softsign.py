"""Cases of softsign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.softsign import Softsign
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary

ONNX = ("Softsign",)


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, Softsign(), -4.0, 4.0)
    yield from unary_types(rng, Softsign())
    yield OpCase(Softsign(), (np.array([0.0, -0.0, 1e30, -1e30, 1e-30], np.float32),), "special")
