"""Operators that select elements by their values."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType

#: Element types that kernels select from as they are; narrower ones become s32, in which they keep their order.
_SELECTED = (DType.F32, DType.F64, DType.S32, DType.U32, DType.S64, DType.U64)


@handler("TopK")
def top_k(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    axis = step.axis(step.integer("axis", -1), x.rank)
    largest = bool(step.integer("largest", 1))
    narrow = x.dtype not in _SELECTED
    selected = step.emit("cast", x, to=DType.S32) if narrow else x
    values, places = step.emit_all("topk", selected, axis=axis, k=(_count(step),), largest=largest)
    return (step.emit("cast", values, to=x.dtype) if narrow else values), places


def _count(step: Step) -> Dim:
    """How many: an attribute before opset 10, an input from then on."""
    if step.opset < 10:
        return step.integer("k")
    counts = step.known_dims(1, "k")
    if len(counts) != 1:
        step.malformed(f"its k (input 1) is not one number but {len(counts)}")
    return counts[0]
