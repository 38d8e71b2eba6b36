"""Cases of logical_or."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.logical_or import LogicalOr
from tests.ops.case import OpCase
from tests.ops.inputs import PAIRS, Rng, integers, label

ONNX = ("Or",)


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in PAIRS:
        flags = integers(rng, a, 0, 2, np.bool_), integers(rng, b, 0, 2, np.bool_)
        yield OpCase(LogicalOr(), flags, label(a, "with", b))
