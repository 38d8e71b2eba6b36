"""Softmax and LogSoftmax. Before opset 13 they worked on the tensor flattened to a matrix at the axis."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step
from buildtool.ir.dims import product


@handler("Softmax", "LogSoftmax")
def softmax(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 1 if step.opset < 13 else -1), x.rank)
    along = _softmax if step.node.op == "Softmax" else _log_softmax
    if step.opset >= 13 or all(dim == 1 for dim in x.shape[axis + 1 :]):
        return along(step, x, axis)
    flat = step.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))
    return step.reshape(along(step, flat, 1), x.shape)


def _softmax(step: Step, x: Tensor, axis: int) -> Tensor:
    return step.emit("softmax", x, axis=axis)


def _log_softmax(step: Step, x: Tensor, axis: int) -> Tensor:
    """x - max - log(sum(exp(x - max))): the logarithm of a softmax would lose the small ones."""
    shifted = step.emit("sub", x, step.emit("reduce_max", x, axes=(axis,), keepdims=True))
    total = step.emit("reduce_sum", step.emit("exp", shifted), axes=(axis,), keepdims=True)
    return step.emit("sub", shifted, step.emit("log", total))
