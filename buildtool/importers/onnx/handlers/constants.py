"""Constant, and what makes content out of shapes: Shape, Size, ConstantOfShape, EyeLike, Range."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import MOST_ELEMENTS, Tensor
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.ranges import range_of
from buildtool.importers.step import Step
from buildtool.ir.dims import product

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
        step.malformed("the attribute 'value' is not a single number")
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


@handler("Range")
def range_(step: Step) -> Tensor:
    return range_of(step, (step.input(0), step.input(1), step.input(2)))
