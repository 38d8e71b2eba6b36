"""Arithmetic on what is known on import, run-time dimensions included: how exporters compute target shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.handlers.reduction import reduced_axes
from buildtool.importers.onnx.registry import evaluator
from buildtool.importers.size_arithmetic import combined, compared, reduced, rounded
from buildtool.importers.step import Step
from buildtool.ir.operator import Array

_WHOLE = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Pow": "pow",
    "Min": "minimum",
    "Max": "maximum",
    "Mod": "mod",
}
_RELATIONS = {
    "Equal": "equal",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "less_equal",
    "GreaterOrEqual": "greater_equal",
}


@evaluator(*_WHOLE)
def whole_numbers(step: Step) -> Tensor | None:
    if step.node.op == "Mod" and step.integer("fmod", 0):
        return None
    return combined(step, _WHOLE[step.node.op])


@evaluator("Neg", "Floor", "Ceil", "Round", "Abs")
def rounding(step: Step) -> Tensor | None:
    return rounded(step, step.node.op.lower())


@evaluator("ReduceProd", "ReduceSum")
def reduced_dims(step: Step) -> Tensor | None:
    operation = "prod" if step.node.op == "ReduceProd" else "sum"
    return reduced(step, operation, reduced_axes(step), bool(step.integer("keepdims", 1)))


@evaluator(*_RELATIONS)
def comparison(step: Step) -> Tensor | None:
    return compared(step, _RELATIONS[step.node.op])


@evaluator("Where")
def where(step: Step) -> Tensor | None:
    arrays = _known(step)
    if arrays is None or all(array.dtype != object for array in arrays):
        return None
    if len(arrays) != 3 or arrays[0].dtype != np.bool_:
        step.malformed("its inputs are not a condition and two tensors")
    return Tensor.of(np.where(*arrays), step.input(1).dtype)


@evaluator("NonZero")
def non_zero(step: Step) -> Tensor | None:
    known = step.input(0).content
    return None if known is None else Tensor.of(np.array(np.nonzero(known), np.int64))


def _known(step: Step) -> Sequence[Array] | None:
    arrays = [tensor.known for tensor in step.present() if tensor.known is not None]
    return arrays if len(arrays) == len(step.present()) else None
