"""Operators that pick or place elements by index, and OneHot."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.types import DType


@handler("GatherElements")
def gather_elements(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit("gather_elements", x, _indices(step, 1), axis=step.axis(step.integer("axis", 0), x.rank))


@handler("GatherND")
def gather_nd(step: Step) -> Tensor:
    return step.emit("gather_nd", step.input(0), _indices(step, 1), batch_dims=step.integer("batch_dims", 0))


@handler("ScatterElements", "Scatter")
def scatter_elements(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 0), x.rank)
    reduction = step.text("reduction", "none")
    return step.emit("scatter_elements", x, _indices(step, 1), step.input(2), axis=axis, reduction=reduction)


@handler("ScatterND")
def scatter_nd(step: Step) -> Tensor:
    x, indices, updates = step.input(0), _indices(step, 1), step.input(2)
    return step.emit("scatter_nd", x, indices, updates, reduction=step.text("reduction", "none"))


@handler("TensorScatter")
def tensor_scatter(step: Step) -> Tensor:
    cache, update = step.input(0), step.input(1)
    mode = step.text("mode", "linear")
    if mode not in ("linear", "circular"):
        step.malformed(f"the attribute 'mode' is '{mode}'")
    starts = [_indices(step, 2)] if step.optional(2) is not None else []
    axis = step.axis(step.integer("axis", -2), cache.rank)
    return step.emit("tensor_scatter", cache, update, *starts, axis=axis, circular=mode == "circular")


@handler("OneHot")
def one_hot(step: Step) -> Tensor:
    indices = _indices(step, 0)
    axis = step.axis(step.integer("axis", -1), indices.rank + 1)
    return step.emit("one_hot", indices, step.input(2), axis=axis, depth=step.known_whole(1, "depth"))


def _indices(step: Step, index: int) -> Tensor:
    """An input with indices; the types that the graph does not take as such are converted, floats cut to integers."""
    tensor = step.input(index)
    return tensor if tensor.dtype in (DType.S32, DType.S64) else step.emit("cast", tensor, to=DType.S64)
