"""Expand and Tile."""

from __future__ import annotations

import math

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds
from buildtool.ops._shapes import broadcast

_MOST_ELEMENTS = 2**31 - 1  # of what a small tensor may grow to


@handler("Expand")
def expand(step: Step) -> Tensor:
    """Both shapes may have dimensions of 1: the result is what the two broadcast to."""
    x, wanted = step.input(0), step.known_dims(1, "shape")
    if any(bounds(dim)[1] < 0 for dim in wanted):
        step.malformed(f"it expands to {[str(dim) for dim in wanted]}")
    shape = broadcast(x.shape, wanted)
    if shape == x.shape:
        return step.emit("identity", x)
    _check_size(step, shape)
    return step.emit("broadcast_to", x, shape=shape)


@handler("Tile")
def tile(step: Step) -> Tensor:
    x, repeats = step.input(0), step.known_dims(1, "repeats")
    if len(repeats) != x.rank or any(bounds(count)[1] < 0 for count in repeats):
        step.malformed(f"{[str(count) for count in repeats]} are not {x.rank} counts")
    numbers = [count for count in repeats if isinstance(count, int)]
    _check_size(step, tuple(dim * count for dim, count in zip(x.shape, repeats, strict=True)))
    if len(numbers) == len(repeats):
        return step.emit("tile", x, repeats=tuple(numbers))
    return _tiled(step, x, repeats)


def _check_size(step: Step, shape: tuple[Dim, ...]) -> None:
    count = math.prod(dim for dim in shape if isinstance(dim, int))
    if count > _MOST_ELEMENTS:
        step.unsupported(f"{count} elements", "let the operator that reads them broadcast")


def _tiled(step: Step, x: Tensor, repeats: tuple[Dim, ...]) -> Tensor:
    """Run-time counts: each axis becomes a count of copies and the axis itself, and the two are merged."""
    apart = [part for dim in x.shape for part in (1, dim)]
    copied = [part for count, dim in zip(repeats, x.shape, strict=True) for part in (count, dim)]
    if len(apart) > 8:
        step.unsupported(f"run-time counts of copies for {x.rank} axes", "fix the input shapes")
    y = step.emit("broadcast_to", step.reshape(x, tuple(apart)), shape=tuple(copied))
    return step.reshape(y, tuple(dim * count for dim, count in zip(x.shape, repeats, strict=True)))
