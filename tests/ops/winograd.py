"""Convolutions that Winograd's kernels can do, with the shapes that make a difference to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.conv2d import Conv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal

# Image, output channels, pads: ones, primes, outputs that are no whole tiles, images smaller than the filter, pads on
# some sides only and so wide that whole tiles lie in them, and depths and outputs around vectors, panels and blocks.
_SHAPES: tuple[tuple[tuple[int, ...], int, tuple[int, int, int, int]], ...] = (
    ((1, 3, 3, 1), 1, (0, 0, 0, 0)),
    ((1, 1, 1, 1), 1, (1, 1, 1, 1)),
    ((1, 1, 1, 17), 65, (1, 1, 1, 1)),
    ((1, 2, 7, 3), 7, (1, 0, 0, 1)),
    ((1, 4, 3, 5), 8, (0, 1, 0, 0)),
    ((1, 5, 6, 7), 9, (0, 0, 1, 0)),
    ((2, 5, 5, 8), 15, (1, 1, 1, 1)),
    ((2, 6, 7, 9), 16, (0, 0, 0, 0)),
    ((2, 7, 6, 13), 17, (0, 1, 1, 0)),
    ((3, 7, 7, 16), 31, (1, 1, 1, 1)),
    ((1, 8, 8, 19), 32, (2, 2, 2, 2)),
    ((1, 9, 4, 32), 33, (2, 0, 1, 3)),
    ((1, 4, 11, 33), 48, (0, 0, 0, 0)),
    ((1, 10, 10, 64), 63, (1, 1, 1, 1)),
    ((1, 6, 5, 257), 5, (1, 1, 1, 1)),
    ((1, 4, 4, 521), 3, (0, 1, 1, 0)),
    ((1, 3, 3, 3), 129, (5, 6, 7, 4)),
    ((5, 3, 4, 2), 64, (1, 1, 1, 1)),
    ((1, 1, 29, 5), 11, (1, 1, 1, 1)),
    ((1, 31, 1, 6), 10, (1, 1, 1, 1)),
    ((1, 13, 17, 24), 24, (1, 1, 1, 1)),
)

# Rows of tiles: around the number from which each thread transforms the tiles that it multiplies, which depends on the
# instruction set, and around the number of tiles that are multiplied together.
_TILES = (24, 25, 28, 29, 32, 33, 96, 97, 112, 113, 128, 129)

# Images of many tiles, in rounds that end inside of a line, of an image, and of all.
_LARGE: tuple[tuple[tuple[int, ...], int, tuple[int, int, int, int]], ...] = (
    ((1, 47, 53, 3), 5, (1, 1, 1, 1)),
    ((2, 41, 39, 2), 17, (0, 1, 1, 0)),
    ((3, 29, 31, 5), 19, (1, 1, 1, 1)),
)

# Windows of 7x7 that move by 2: pads on some sides and wider than the window, images that end inside of a square or a
# tile, smaller than a window, and wide ones whose inner tiles are copied from where they are.
_SQUARES: tuple[tuple[tuple[int, ...], int, tuple[int, int, int, int]], ...] = (
    ((1, 7, 7, 1), 1, (0, 0, 0, 0)),
    ((1, 1, 1, 3), 8, (3, 3, 3, 3)),
    ((1, 2, 5, 4), 7, (8, 4, 9, 5)),
    ((2, 8, 7, 2), 16, (0, 1, 0, 0)),
    ((1, 9, 8, 3), 17, (3, 3, 2, 2)),
    ((2, 16, 21, 3), 33, (3, 3, 3, 3)),
    ((1, 17, 40, 1), 64, (3, 3, 3, 3)),
    ((1, 24, 53, 2), 65, (2, 3, 2, 3)),
    ((3, 15, 37, 3), 24, (3, 0, 3, 0)),
    ((1, 33, 39, 4), 129, (0, 0, 0, 0)),
    ((1, 75, 91, 3), 5, (3, 3, 3, 3)),
)


def winograd_cases(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, outputs, pads) in enumerate(_SHAPES + _LARGE):
        operands = 2 + number % 2
        name = label("winograd", number, shape, "to", outputs)
        yield _case(rng, shape, outputs, pads, operands, {}, name)
        if number % 4 == 1 or (shape, outputs, pads) in _LARGE:
            yield _case(rng, shape, outputs, pads, 4, {"activation": "relu"}, f"{name}_residual")
    for tile in (2, 4):
        for number, tiles in enumerate(_TILES):
            shape = (1, tile, tile * tiles - number % tile, 3)
            name = label("winograd", "tiles", tile, tiles)
            yield _case(rng, shape, 5, (1, 1, 1, 1), 3, {}, name)
    for number, activation in enumerate(ACTIVATED):
        shape = (2, 5 + number, 7, 6 + 5 * number)
        name = label("winograd", activation["activation"])
        yield _case(rng, shape, 11 + 3 * number, (1, 1, 1, 1), 3 + number % 2, activation, name)

    for number, (shape, outputs, pads) in enumerate(_SQUARES):
        name = label("winograd", "7x7", number, shape, "to", outputs)
        yield _case(rng, shape, outputs, pads, 2 + number % 3, ACTIVATED[number % len(ACTIVATED)], name, size=7)


def _case(
    rng: Rng,
    shape: tuple[int, ...],
    outputs: int,
    pads: tuple[int, ...],
    operands: int,
    activation: dict[str, Any],
    name: str,
    size: int = 3,
) -> OpCase:
    """A case with `operands` inputs, as a model brings them: so scaled that results are about as large as inputs."""
    stride = 1 if size == 3 else 2
    op = Conv2d(strides=(stride, stride), pads=pads, **activation)
    made = [(shape[1 + axis] + pads[axis] + pads[2 + axis] - size) // stride + 1 for axis in (0, 1)]
    filters = normal(rng, (outputs, size, size, shape[3])) / np.float32(np.sqrt(size * size * shape[3]))
    inputs = (normal(rng, shape), filters, normal(rng, (outputs,)), normal(rng, (shape[0], *made, outputs)))
    return OpCase(op, inputs[:operands], name, (1, 2)[: operands - 1], made_for="winograd")
