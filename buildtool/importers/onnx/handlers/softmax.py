"""Softmax, LogSoftmax and Hardmax. Before opset 13 they worked on the tensor flattened to a matrix at the axis."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import product

_ALONG = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardmax": "hardmax"}


@handler(*_ALONG)
def softmax(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 1 if step.opset < 13 else -1), x.rank)
    along = _ALONG[step.node.op]
    if step.opset >= 13 or all(dim == 1 for dim in x.shape[axis + 1 :]):
        return step.emit(along, x, axis=axis)
    flat = step.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))
    return step.reshape(step.emit(along, flat, axis=1), x.shape)
