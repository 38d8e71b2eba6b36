"""Cast and CastLike."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.step import Step
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.ir.types import DType


def _target(step: Step) -> DType:
    if step.node.op == "CastLike":
        return step.input(1).dtype
    return dtype_of_code(step.integer("to"), step.where)


@evaluator("Cast", "CastLike")
def cast_dims(step: Step) -> Tensor | None:
    known, target = step.input(0).known, _target(step)
    if known is None or known.dtype != object or target is DType.BOOL:
        return None
    # Run-time dimensions stay what they are: casts to float and back only serve a scale in between.
    return Tensor.of(known, target)


@handler("Cast", "CastLike")
def cast(step: Step) -> Tensor:
    return step.emit("cast", step.input(0), to=_target(step))
