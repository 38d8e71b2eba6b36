"""Expand and Tile."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.spatial import NO_ACTIVATION
from buildtool.importers.onnx.step import Step
from buildtool.ir.dims import Dim

_MOST_COPIES = 64
_MOST_ELEMENTS = 2**22


@evaluator("Expand")
def expand_known(step: Step) -> Tensor | None:
    known = step.input(0).known
    if known is None:
        return None
    shape = step.known_ints(1, "shape")
    if any(dim < 0 for dim in shape) or math.prod(shape) * max(known.size, 1) > _MOST_ELEMENTS:
        return None
    return Tensor.of(np.array(np.broadcast_to(known, np.broadcast_shapes(known.shape, shape))), step.input(0).dtype)


@handler("Expand")
def expand(step: Step) -> Tensor:
    x, wanted = step.input(0), step.known_dims(1, "shape")
    rank = max(x.rank, len(wanted))
    shape: tuple[Dim, ...] = (1,) * (rank - x.rank) + x.shape
    target: tuple[Dim, ...] = (1,) * (rank - len(wanted)) + wanted
    x = step.reshape(x, shape)
    grown = [
        axis for axis, (dim, goal) in enumerate(zip(shape, target, strict=True)) if dim == 1 and goal not in (1, dim)
    ]
    if not grown:
        return step.emit("identity", x)
    factors = [target[axis] if axis in grown else 1 for axis in range(rank)]
    numbers = [factor for factor in factors if isinstance(factor, int)]
    if len(numbers) < rank or any(number < 1 for number in numbers):
        step.unsupported("an expansion to a run-time size", "fix the input shapes")
    if math.prod(numbers) <= _MOST_COPIES or not x.dtype.is_float:
        return _repeated(step, x, numbers)
    if math.prod(numbers) > _MOST_ELEMENTS:
        step.unsupported(f"an expansion by {math.prod(numbers)}", "let the operator that reads it broadcast")
    return step.emit("add", x, step.constant(np.zeros(numbers, x.dtype.numpy)), **NO_ACTIVATION)


@handler("Tile")
def tile(step: Step) -> Tensor:
    x, repeats = step.input(0), step.known_ints(1, "repeats")
    if len(repeats) != x.rank or any(count < 1 for count in repeats):
        step.malformed(f"{list(repeats)} are not {x.rank} positive counts")
    return _repeated(step, x, repeats)


def _repeated(step: Step, x: Tensor, counts: tuple[int, ...] | list[int]) -> Tensor:
    if max(counts, default=1) > _MOST_COPIES:
        step.unsupported(f"{max(counts)} copies of a tensor", "let the operator that reads it broadcast")
    for axis, count in enumerate(counts):
        if count > 1:
            x = step.emit("concat", *([x] * count), axis=axis)
    return x
