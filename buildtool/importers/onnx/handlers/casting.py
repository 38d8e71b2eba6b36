"""Cast, CastLike and BitCast."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.tensors import HALVES, dtype_of_code
from buildtool.importers.size_arithmetic import converted
from buildtool.importers.step import Step
from buildtool.ir.types import DType


def _target(step: Step) -> DType:
    if step.node.op == "CastLike":
        return step.input(1).dtype
    return dtype_of_code(step.integer("to"), step.where)


@evaluator("Cast", "CastLike")
def cast_dims(step: Step) -> Tensor | None:
    return converted(step, _target(step))


@handler("Cast", "CastLike")
def cast(step: Step) -> Tensor:
    x, target = step.input(0), _target(step)
    half = HALVES.get(step.integer("to")) if step.node.op == "Cast" else None
    if half is not None and x.dtype is not DType.BOOL:
        x = step.emit("cast", x, to=half)  # the graph goes on in single precision, with the numbers that a half holds
    return step.emit("cast", x, to=target)


@handler("BitCast")
def bit_cast(step: Step) -> Tensor:
    x, code = step.input(0), step.integer("to")
    target = dtype_of_code(code, step.where)
    if code in HALVES or x.dtype.itemsize != target.itemsize:
        step.unsupported("the bits of a 16-bit float", "16-bit floats are widened when a model is read")
    return step.emit("bitcast", x, to=target)
