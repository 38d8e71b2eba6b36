"""Cases of fully_connected_integer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ops.fully_connected_integer import FullyConnectedInteger
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal
from tests.ops.quantised import whole_range, zero_point

SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1, 1), 1),
    ((5,), 7),
    ((1, 33), 16),
    ((4, 16), 17),
    ((7, 259), 19),
    ((13, 64), 40),
    ((2, 3, 5), 33),
    ((5, 13, 131), 150),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for x, outputs in SHAPES:
        for dtype in (np.uint8, np.int8):
            for columns, zeros in (((), "one"), ((outputs,), "row")):
                name = label(x, "to", outputs, np.dtype(dtype).name, zeros)
                yield _case(rng, name, x, outputs, dtype, zeros=columns, scales=columns)
    for activation in ACTIVATED:
        yield _case(rng, label(activation["activation"]), (6, 24), 21, op=FullyConnectedInteger(**activation))
    yield _case(rng, "without_bias", (6, 24), 21, biased=False)
    yield _case(rng, "symmetric", (70, 50), 40, symmetric=True, scales=(40,))


def _case(
    rng: Rng,
    name: str,
    shape: tuple[int, ...],
    outputs: int,
    dtype: type = np.uint8,
    *,
    op: FullyConnectedInteger | None = None,
    zeros: tuple[int, ...] = (),
    scales: tuple[int, ...] = (),
    biased: bool = True,
    symmetric: bool = False,
) -> OpCase:
    of_w = np.zeros(zeros, np.int8) if symmetric else zero_point(rng, zeros, np.int8)
    inputs = (
        whole_range(rng, shape, dtype),
        whole_range(rng, (outputs, shape[-1]), np.int8),
        zero_point(rng, (), dtype),
        of_w,
        np.asarray(rng.uniform(0.5, 2.0, scales) / (3000.0 * shape[-1]), np.float32),
        *([normal(rng, (outputs,))] if biased else []),
    )
    return OpCase(op or FullyConnectedInteger(), inputs, name, (1, 3, 5) if biased else (1, 3))
