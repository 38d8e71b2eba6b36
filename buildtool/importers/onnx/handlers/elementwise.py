"""Arithmetic with broadcasting; the variadic operators become chains."""

from __future__ import annotations

import functools

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_BINARY = {"Sub": "sub", "Mul": "mul", "Div": "div"}
_VARIADIC = {"Min": "minimum", "Max": "maximum"}


@handler("Add")
def add(step: Step) -> Tensor:
    return step.emit("add", step.input(0), step.input(1), **NO_ACTIVATION)


@handler(*_BINARY)
def binary(step: Step) -> Tensor:
    return step.emit(_BINARY[step.node.op], step.input(0), step.input(1))


@handler("Pow")
def power(step: Step) -> Tensor:
    base, exponent = step.input(0), step.input(1)
    if base.dtype.is_integer and exponent.dtype.is_float and not _is_whole(exponent):
        wide = [step.emit("cast", tensor, to=DType.F64) for tensor in (base, exponent)]
        return step.emit("cast", step.emit("pow", *wide), to=base.dtype)
    if exponent.dtype is not base.dtype:
        exponent = step.emit("cast", exponent, to=base.dtype)
    return step.emit("pow", base, exponent)


def _is_whole(tensor: Tensor) -> bool:
    """Whether it is known that the numbers have no fractions."""
    known = tensor.content
    return known is not None and bool(np.all(known == np.floor(known)))


@handler("Mod")
def modulo(step: Step) -> Tensor:
    return step.emit("mod", step.input(0), step.input(1), fmod=bool(step.integer("fmod", 0)))


@handler(*_VARIADIC)
def variadic(step: Step) -> Tensor:
    op = _VARIADIC[step.node.op]
    tensors = step.present()
    if len(tensors) == 1:
        return step.emit("identity", tensors[0])
    return functools.reduce(lambda left, right: step.emit(op, left, right), tensors)


@handler("Sum", "Mean")
def total(step: Step) -> Tensor:
    tensors = step.present()
    if len(tensors) == 1:
        return step.emit("identity", tensors[0])
    result = functools.reduce(lambda left, right: step.emit("add", left, right, **NO_ACTIVATION), tensors)
    if step.node.op == "Mean":
        result = step.emit("mul", result, step.constant(np.array(1 / len(tensors), result.dtype.numpy)))
    return result
