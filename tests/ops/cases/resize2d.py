"""Cases of resize2d."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.resize2d import Resize2d
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal

# Input and output size.
_SIZES: tuple[tuple[tuple[int, ...], tuple[int, int]], ...] = (
    ((1, 1, 1, 1), (1, 1)),
    ((1, 1, 1, 3), (4, 5)),
    ((1, 7, 5, 3), (14, 10)),
    ((2, 4, 4, 8), (8, 8)),
    ((1, 8, 6, 17), (4, 3)),
    ((1, 5, 7, 2), (11, 13)),
    ((1, 13, 11, 1), (5, 3)),
    ((1, 6, 9, 5), (1, 1)),
    ((3, 3, 3, 4), (3, 3)),
    ((1, 2, 3, 31), (6, 12)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, size) in enumerate(_SIZES):
        scales = (size[0] / shape[1], size[1] / shape[2])
        for coordinates in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
            op = Resize2d(size, scales, "linear", coordinates, "floor")
            yield OpCase(op, (normal(rng, shape),), label(number, "linear", coordinates, shape, "to", size))
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            coordinates = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")[number % 4]
            op = Resize2d(size, scales, "nearest", coordinates, rounding)
            yield OpCase(op, (normal(rng, shape),), label(number, "nearest", coordinates, rounding, shape, "to", size))
    # Scales of the model that are not the quotient of the sizes.
    for mode, coordinates in (("linear", "half_pixel"), ("nearest", "asymmetric"), ("linear", "asymmetric")):
        op = Resize2d((12, 9), (2.5, 1.9), mode, coordinates, "floor")
        yield OpCase(op, (normal(rng, (1, 5, 5, 3)),), label("own_scales", mode, coordinates))
    op = Resize2d((6, 8), (2.0, 2.0), "linear", "half_pixel", "floor")
    yield OpCase(op, (normal(rng, (1, 3, 4, 5), np.float16),), "f16")
    for mode in ("linear", "nearest"):
        op = Resize2d((7, 9), (2.5, 1.9), mode, "half_pixel", "floor")
        yield OpCase(op, (normal(rng, (2, 3, 5, 5), np.float64),), label("f64", mode))
    for mode, coordinates in (("linear", "half_pixel"), ("nearest", "asymmetric"), ("linear", "align_corners")):
        op = Resize2d((5, 9), (0.0, 0.0), mode, coordinates, "floor")
        yield OpCase(op, (normal(rng, (1, 7, 4, 3)),), label("scales_of_sizes", mode, coordinates))
