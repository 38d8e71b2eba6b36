"""Constant, and what makes content out of shapes: Shape, Size, ConstantOfShape, Range."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import evaluator
from buildtool.importers.onnx.step import Step
from buildtool.ir.dims import product

_MOST_ELEMENTS = 2**24


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
    dims = step.known_ints(0, "shape")
    if any(dim < 0 for dim in dims) or math.prod(dims) > _MOST_ELEMENTS:
        step.malformed(f"the shape {list(dims)} is not possible")
    value = step.attribute("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if not isinstance(value, np.ndarray) or value.size != 1:
        step.malformed("the attribute 'value' is not one number")
    return Tensor.of(np.full(dims, value.reshape(-1)[0], value.dtype))


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
    return Tensor.of((start + np.arange(count) * delta).astype(step.input(0).dtype.numpy))
