"""Cases of thresholded_relu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.thresholded_relu import ThresholdedRelu
from tests.ops.case import OpCase
from tests.ops.element_types import unary_types
from tests.ops.inputs import Rng, unary, uniform

ONNX = ("ThresholdedRelu", "alpha")


def cases(rng: Rng) -> Iterator[OpCase]:
    yield from unary(rng, ThresholdedRelu(1.0), -4.0, 4.0)
    yield from unary_types(rng, ThresholdedRelu(1.0))
    yield OpCase(ThresholdedRelu(1.0), (np.array([1.0, -1.0, 0.9999999, 1.0000001, np.inf], np.float32),), "special")
    yield OpCase(ThresholdedRelu(-0.5), (uniform(rng, (2, 19), -4, 4),), "negative_alpha")
