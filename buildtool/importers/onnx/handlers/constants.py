"""Constant, and what makes content out of shapes: Shape, Size, ConstantOfShape, EyeLike, Range."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import MOST_ELEMENTS, Tensor
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.step import Step
from buildtool.ir.dims import bounds, ceil_div, maximum, product

_MOST_ELEMENTS = 2**24  # of a constant that is made here


@evaluator("Constant")
def constant(step: Step) -> Tensor:
    for name, dtype in (("value_float", "float32"), ("value_floats", "float32"), ("value_int", "int64")):
        if step.has(name):
            return Tensor.of(np.array(step.attribute(name), dtype))
    if step.has("value_ints"):
        return Tensor.of(np.array(step.integers("value_ints"), np.int64))
    value = step.attribute("value")
    if not isinstance(value, np.ndarray):
        step.unsupported("a constant of strings or a sparse one", "only dense numbers are supported")
    return Tensor.of(value)


@evaluator("Shape", any_size=True)
def shape(step: Step) -> Tensor:
    dims = step.input(0).shape
    taken = dims[slice(step.integer("start", 0), step.integer("end", len(dims)))]
    content = np.empty(len(taken), object)
    content[:] = taken
    return Tensor.of(content)


@evaluator("Size", any_size=True)
def size(step: Step) -> Tensor:
    content = np.empty((), object)
    content[()] = product(step.input(0).shape)
    return Tensor.of(content)


@evaluator("ConstantOfShape")
def constant_of_shape(step: Step) -> Tensor:
    dims = step.known_dims(0, "shape")
    numbers = [dim for dim in dims if isinstance(dim, int)]
    if any(dim < 0 for dim in numbers) or math.prod(numbers) > MOST_ELEMENTS:
        step.malformed(f"the shape {[str(dim) for dim in dims]} is not possible")
    value = step.attribute("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if not isinstance(value, np.ndarray) or value.size != 1:
        step.malformed("the attribute 'value' is not one number")
    return step.emit("broadcast_to", step.constant(value.reshape(())), shape=dims)


@evaluator("EyeLike", any_size=True)
def eye_like(step: Step) -> Tensor:
    x = step.input(0)
    if x.rank != 2:
        step.malformed(f"its input has rank {x.rank}, not 2")
    rows, columns = x.shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        step.unsupported("a matrix of a run-time size", "fix the input shapes")
    if rows * columns > _MOST_ELEMENTS:
        step.malformed(f"a constant of {rows} x {columns} elements")
    dtype = dtype_of_code(step.integer("dtype"), step.where) if step.has("dtype") else x.dtype
    offset = min(max(step.integer("k", 0), -rows), columns)
    return Tensor.of(np.eye(rows, columns, offset, dtype.numpy), dtype)


@evaluator("Range")
def range_(step: Step) -> Tensor | None:
    if any(tensor is None or tensor.content is None for tensor in step.inputs) or len(step.inputs) != 3:
        return None
    start, limit, delta = (step.known(index, "bounds").reshape(-1)[0] for index in range(3))
    if delta == 0 or not all(np.isfinite(number) for number in (start, limit, delta)):
        step.malformed("a range without end")
    count = max(math.ceil((float(limit) - float(start)) / float(delta)), 0)
    if count > _MOST_ELEMENTS:
        step.malformed(f"a range of {count} elements")
    dtype = step.input(0).dtype
    return Tensor.of((start + np.arange(count) * delta).astype(dtype.numpy), dtype)


@handler("Range")
def range_of_run_time_size(step: Step) -> Tensor:
    """As many elements as the dimension allows at most, cut to as many as it is."""
    start, delta = step.known_ints(0, "start")[0], step.known_ints(2, "delta")[0]
    limit = step.known_dims(1, "limit")[0]
    if delta == 0:
        step.malformed("a range without end")
    count = ceil_div(limit - start, delta) if delta > 0 else ceil_div(start - limit, -delta)
    if bounds(count)[0] < 0:
        count = maximum(count, 0)
    most = bounds(count)[1]
    if most > _MOST_ELEMENTS:
        step.unsupported(f"a range of up to {most} elements", "give input_shapes with smaller bounds")
    dtype = step.input(0).dtype.numpy
    longest = step.constant((start + np.arange(most) * delta).astype(dtype))
    return step.emit("slice", longest, starts=(0,), steps=(1,), sizes=(count,))
