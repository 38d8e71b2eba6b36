"""Layers that make one tensor of several."""

from __future__ import annotations

import functools

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import array, floating, plus, refuse_keywords, tensors
from buildtool.importers.step import Step
from buildtool.ir.dims import product

_OPERATORS = {"Multiply": "mul", "Maximum": "maximum", "Minimum": "minimum"}


def _operands(step: Step) -> list[Tensor]:
    """Tensors of lower rank than others get axes behind their first one, which is that of the batch."""
    refuse_keywords(step)
    given = tensors(step)
    rank = max(tensor.rank for tensor in given)
    if any(tensor.dtype.is_float for tensor in given):
        given = [floating(step, tensor) for tensor in given]
    return [
        step.reshape(tensor, (tensor.shape[0], *(1 for _ in range(rank - tensor.rank)), *tensor.shape[1:]))
        if 0 < tensor.rank < rank
        else tensor
        for tensor in given
    ]


@handler("Add")
def add(step: Step) -> Tensor:
    return functools.reduce(lambda a, b: plus(step, a, b), _operands(step))


@handler("Subtract")
def subtract(step: Step) -> Tensor:
    given = _operands(step)
    if len(given) != 2:
        step.malformed(f"it is called with {len(given)} tensors, not 2")
    return step.emit("sub", *given)


@handler(*_OPERATORS)
def merge(step: Step) -> Tensor:
    return functools.reduce(lambda a, b: step.emit(_OPERATORS[step.node.op], a, b), _operands(step))


@handler("Average")
def average(step: Step) -> Tensor:
    given = [floating(step, tensor) for tensor in _operands(step)]
    total = functools.reduce(lambda a, b: plus(step, a, b), given)
    return step.emit("mul", total, array(step, 1 / len(given)))


@handler("Concatenate")
def concatenate(step: Step) -> Tensor:
    refuse_keywords(step)
    given = tensors(step)
    axis = step.axis(step.integer("axis", -1), given[0].rank)
    return given[0] if len(given) == 1 else step.emit("concat", *given, axis=axis)


@handler("Dot")
def dot(step: Step) -> Tensor:
    """A product of matrices for each place along the first axis."""
    refuse_keywords(step)
    given = [floating(step, tensor) for tensor in tensors(step)]
    if len(given) != 2 or min(tensor.rank for tensor in given) < 2:
        step.malformed("it is not called with two tensors of rank 2 or more")
    stated = step.attribute("axes")
    listed = [int(item) for item in stated if isinstance(item, int)] if isinstance(stated, tuple) else []
    both = listed or [step.integer("axes")] * 2
    if len(both) != 2:
        step.malformed(f"'axes' are {both}")
    axes = [step.axis(axis, tensor.rank) for axis, tensor in zip(both, given, strict=True)]
    if 0 in axes:
        step.unsupported("a product along the batch axis", "use another axis")
    if step.integer("normalize", 0):
        given = [_of_length_one(step, tensor, axis) for tensor, axis in zip(given, axes, strict=True)]
    a, b = given
    rest_a = tuple(axis for axis in range(1, a.rank) if axis != axes[0])
    rest_b = tuple(axis for axis in range(1, b.rank) if axis != axes[1])
    left, right = step.transpose(a, (0, *rest_a, axes[0])), step.transpose(b, (0, axes[1], *rest_b))
    sizes_a, sizes_b = left.shape[1:-1], right.shape[2:]
    y = step.emit(
        "matmul",
        step.reshape(left, (left.shape[0], product(sizes_a), left.shape[-1])),
        step.reshape(right, (right.shape[0], right.shape[1], product(sizes_b))),
    )
    return step.reshape(y, (a.shape[0], *sizes_a, *sizes_b) if sizes_a or sizes_b else (a.shape[0], 1))


def _of_length_one(step: Step, x: Tensor, axis: int) -> Tensor:
    squares = step.emit("reduce_sum", step.emit("mul", x, x), axes=(axis,), keepdims=True)
    least = step.constant(np.array(1e-12, np.float32))
    return step.emit("div", x, step.emit("sqrt", step.emit("maximum", squares, least)))
