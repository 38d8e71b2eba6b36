"""Reductions: axes as an attribute at first, as an input later (ReduceSum from opset 13, the others from 18)."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step

_REDUCTIONS = {
    "ReduceSum": "reduce_sum",
    "ReduceMean": "reduce_mean",
    "ReduceMax": "reduce_max",
    "ReduceMin": "reduce_min",
    "ReduceProd": "reduce_prod",
}


@handler(*_REDUCTIONS)
def reduction(step: Step) -> Tensor:
    x = step.input(0)
    stated = reduced_axes(step)
    if not stated and step.integer("noop_with_empty_axes", 0):
        return step.emit("identity", x)
    axes = tuple(sorted(step.axes(stated, x.rank))) or tuple(range(x.rank))
    return step.emit(_REDUCTIONS[step.node.op], x, axes=axes, keepdims=bool(step.integer("keepdims", 1)))


def reduced_axes(step: Step) -> tuple[int, ...]:
    """The axes as stated; empty for all."""
    if step.opset >= (13 if step.node.op == "ReduceSum" else 18):
        return step.known_ints(1, "axes") if step.optional(1) is not None else ()
    return step.integers("axes", ())
