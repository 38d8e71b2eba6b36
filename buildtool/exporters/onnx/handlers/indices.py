"""Operators with indices: gathering, scattering, one-hot rows."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.orders import plain
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.types import DType


@handler("gather")
def gather(step: Step) -> None:
    """In whatever order the operand is there: the axes of the indices stand where the axis stood."""
    value, indices = step.value(0), step.value(1)
    axis: int = step.node.op.axis  # type: ignore[attr-defined]
    more = indices.type.rank
    order = (step.forms.orders(value) or (plain(value.type.rank),))[0]
    name = step.emit("Gather", step.forms.name(value, order), step.forms.name(indices), axis=order.index(axis))
    new: list[int] = []
    for old in order:
        new += range(axis, axis + more) if old == axis else [old if old < axis else old + more - 1]
    step.forms.give(step.node.outputs[0], tuple(new), name)


@handler("gather_elements")
def gather_elements(step: Step) -> None:
    step.give(step.emit("GatherElements", *step.inputs(), axis=step.op.axis))


@handler("gather_nd")
def gather_nd(step: Step) -> None:
    x, indices = step.inputs()
    step.give(step.emit("GatherND", x, _wide(step, 1, indices), batch_dims=step.op.batch_dims or None))


@handler("scatter_elements")
def scatter_elements(step: Step) -> None:
    step.give(step.emit("ScatterElements", *step.inputs(), axis=step.op.axis, reduction=step.op.reduction))


@handler("scatter_nd")
def scatter_nd(step: Step) -> None:
    x, indices, updates = step.inputs()
    step.give(step.emit("ScatterND", x, _wide(step, 1, indices), updates, reduction=step.op.reduction))


@handler("tensor_scatter")
def tensor_scatter(step: Step) -> None:
    cache, update, *starts = step.inputs()
    starts = [_wide(step, 2, start) for start in starts]
    mode = "circular" if step.op.circular else "linear"
    step.give(step.emit("TensorScatter", cache, update, *starts, axis=step.op.axis, mode=mode))


@handler("one_hot")
def one_hot(step: Step) -> None:
    indices, values = step.inputs()
    depth = step.writer.constant(np.array(step.op.depth, np.int64), hint="depth")
    indices = _wide(step, 0, indices)
    if step.value(0).type.rank:
        step.give(step.emit("OneHot", indices, depth, values, axis=step.op.axis))
    else:  # ONNX has rows of indices only
        row = step.emit("OneHot", step.writer.reshaped(indices, (1,), "row"), depth, values, axis=1)
        step.give(step.writer.reshaped(row, (step.op.depth,), "row"))


def _wide(step: Step, index: int, name: str) -> str:
    """Indices as s64, which some operators ask for."""
    return name if step.value(index).type.dtype is DType.S64 else step.cast(name, DType.S64)
