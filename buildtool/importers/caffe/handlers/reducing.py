"""Reductions, the places of the largest, and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import axis_of, known_sizes, two_bottoms
from buildtool.importers.caffe.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType


@handler("Reduction")
def reduction(step: Step) -> Tensor:
    """Of an axis and all behind it."""
    x, operation = step.input(0), step.text("operation", "SUM")
    axes = tuple(range(axis_of(step, x, default=0), x.rank))
    if operation == "ASUM":
        x = step.emit("abs", x)
    elif operation == "SUMSQ":
        x = step.emit("mul", x, x)
    y = step.emit("reduce_mean" if operation == "MEAN" else "reduce_sum", x, axes=axes, keepdims=False)
    factor = step.real("coeff", 1.0)
    return y if factor == 1.0 else step.emit("mul", y, step.constant(np.array(factor, np.float32)))


@handler("ArgMax")
def largest(step: Step) -> Tensor:
    """Places, as floats; of equal elements Caffe takes the last. Without an axis, all but the first are one."""
    x, count = step.input(0), step.integer("top_k", 1)
    with_values = bool(step.integer("out_max_val", 0))
    if x.rank < 1:
        step.malformed("its bottom has no axes")
    if step.has("axis"):
        axis = axis_of(step, x)
        values, places = _best(step, x, axis, count)
        return values if with_values else places
    flat = step.reshape(x, (x.shape[0], 1, product(x.shape[1:])))
    values, places = _best(step, flat, 2, count)
    return step.emit("concat", places, values, axis=1) if with_values else places


def _best(step: Step, x: Tensor, axis: int, count: int) -> Sequence[Tensor]:
    """The largest elements and their places. Looked for from the end, so that the last of equal ones is found."""
    (size,) = known_sizes(step, (x.shape[axis],), "the largest along an axis of size")
    if not 1 <= count <= size:
        step.malformed(f"'top_k' is {count}, of {size} elements")
    backwards = step.emit(
        "slice",
        x,
        starts=tuple(size - 1 if one == axis else 0 for one in range(x.rank)),
        steps=tuple(-1 if one == axis else 1 for one in range(x.rank)),
        sizes=x.shape,
    )
    values, places = step.emit_all("topk", backwards, axis=axis, k=(count,), largest=True)
    number = step.emit("cast", places, to=DType.F32)
    return values, step.emit("sub", step.constant(np.array(size - 1, np.float32)), number)


@handler("MatMul")
def matrix_product(step: Step) -> Tensor:
    a, b = two_bottoms(step)
    if step.integer("transpose_a", 0):
        a = _turned(step, a)
    if step.integer("transpose_b", 0):
        b = _turned(step, b)
    return step.emit("matmul", a, b)


def _turned(step: Step, x: Tensor) -> Tensor:
    if x.rank < 2:
        step.malformed(f"a matrix of rank {x.rank}")
    return step.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))
