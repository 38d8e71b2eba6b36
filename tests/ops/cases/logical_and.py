"""Cases of logical_and."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.logical_and import LogicalAnd
from tests.ops.case import OpCase
from tests.ops.inputs import PAIRS, Rng, integers, label

ONNX = ("And",)


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in PAIRS:
        flags = integers(rng, a, 0, 2, np.bool_), integers(rng, b, 0, 2, np.bool_)
        yield OpCase(LogicalAnd(), flags, label(a, "with", b))
