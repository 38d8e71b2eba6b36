"""Cases of avg_pool2d."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.avg_pool2d import AvgPool2d
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal
from tests.ops.pools import POOLS


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, attributes) in enumerate(POOLS):
        name = label(number, shape, "by", attributes["kernel"])
        yield OpCase(AvgPool2d(**attributes), (normal(rng, shape),), name)
        if any(attributes.get("pads", ())):
            op = AvgPool2d(**attributes, count_include_pad=True)
            yield OpCase(op, (normal(rng, shape),), f"{name}_counting_pads")
    op = AvgPool2d(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    yield OpCase(op, (normal(rng, (1, 7, 7, 5), np.float16),), "f16")
    yield OpCase(op, (normal(rng, (1, 7, 7, 5), np.float64),), "f64")
