"""Cases of matmul_integer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.matmul_integer import MatmulInteger
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label
from tests.ops.quantised import BYTE_PAIRS, whole_range, zero_point

ONNX = ("MatMulInteger",)
SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1, 1), (1, 1)),
    ((3, 5), (5, 7)),
    ((4, 33), (33, 16)),
    ((7, 259), (259, 19)),
    ((2, 3, 5), (2, 5, 33)),
    ((2, 1, 3, 5), (4, 5, 7)),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for a, b in SHAPES:
        for left, right in BYTE_PAIRS:
            inputs = (
                whole_range(rng, a, left),
                whole_range(rng, b, right),
                zero_point(rng, (), left),
                zero_point(rng, (), right),
            )
            yield OpCase(MatmulInteger(), inputs, label(a, "by", b, np.dtype(left).name, np.dtype(right).name))
    inputs = (
        whole_range(rng, (3, 5), np.uint8),
        whole_range(rng, (5, 18), np.int8),
        zero_point(rng, (), np.uint8),
        zero_point(rng, (18,), np.int8),
    )
    yield OpCase(MatmulInteger(), inputs, "zero_point_per_column", (1, 3))
    large = (3, 13, 131), (131, 150)
    for left, right, rows in (*((left, right, ()) for left, right in BYTE_PAIRS), (np.uint8, np.int8, (13,))):
        inputs = (
            whole_range(rng, large[0], left),
            whole_range(rng, large[1], right),
            zero_point(rng, rows, left),
            zero_point(rng, (), right),
        )
        name = "zero_point_per_row" if rows else label("large", np.dtype(left).name, np.dtype(right).name)
        yield OpCase(MatmulInteger(), inputs, name)
