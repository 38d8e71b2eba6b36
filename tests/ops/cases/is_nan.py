"""Cases of is_nan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops.is_nan import IsNan
from tests.ops.case import OpCase
from tests.ops.element_types import FLOATS, special
from tests.ops.inputs import SHAPES, Rng, label

ONNX = ("IsNaN",)


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape in SHAPES:
        yield OpCase(IsNan(), (_sprinkled(rng, shape, np.float32),), label(shape))
    for dtype in FLOATS:
        yield OpCase(IsNan(), (_sprinkled(rng, (3, 17), dtype),), np.dtype(dtype).name)
    yield OpCase(IsNan(), (special(),), "special")


def _sprinkled(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers of which some are none."""
    return np.asarray(np.where(rng.random(shape) < 0.3, np.nan, rng.standard_normal(shape)), dtype)
