"""Operators along axes: reductions, places, running sums, softmax and its kin."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.elements import COMPUTED_IN
from buildtool.exporters.onnx.orders import plain
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step

_REDUCTIONS = {
    "reduce_sum": "ReduceSum",
    "reduce_mean": "ReduceMean",
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
}
_ALONG = {"hardmax": "Hardmax", "log_softmax": "LogSoftmax", "softmax": "Softmax"}
_PLACES = {"argmax": "ArgMax", "argmin": "ArgMin"}
_RUNNING = {"cumsum": "CumSum", "cumprod": "CumProd"}


@handler(*_REDUCTIONS)
def reduction(step: Step) -> None:
    """In whatever order the operand is there: the axes that are left keep theirs."""
    value, op = step.value(0), step.node.op
    rank = value.type.rank
    order = (step.forms.orders(value) or (plain(rank),))[0]
    axes: tuple[int, ...] = op.axes  # type: ignore[attr-defined]
    keepdims: bool = op.keepdims  # type: ignore[attr-defined]
    name = step.forms.name(value, order)
    places = sorted(order.index(axis) for axis in axes)
    if axes:
        name = _wide(step, _REDUCTIONS[step.op.name], name, step.integers(places), keepdims=int(keepdims))
    left = [axis for axis in order if axis not in axes]
    result = order if keepdims else tuple(sorted(left).index(axis) for axis in left)
    step.forms.give(step.node.outputs[0], result, name)


@handler(*_ALONG)
def along(step: Step) -> None:
    step.give(step.emit(_ALONG[step.op.name], step.input(0), axis=step.op.axis))


@handler(*_PLACES)
def place(step: Step) -> None:
    op = step.op
    step.give(
        step.emit(
            _PLACES[op.name],
            step.input(0),
            axis=op.axis,
            keepdims=int(op.keepdims),
            select_last_index=int(op.select_last_index) or None,
        )
    )


@handler(*_RUNNING)
def running(step: Step) -> None:
    op = step.op
    axis = step.writer.constant(np.array(op.axis, np.int64), hint="axis")
    flags = {"exclusive": int(op.exclusive) or None, "reverse": int(op.reverse) or None}
    step.give(_wide(step, _RUNNING[op.name], step.input(0), axis, **flags))


def _wide(step: Step, op: str, x: str, axes: str, **attributes: int | None) -> str:
    """As `compute`, for operators whose second operand is a list of axes."""
    wide = COMPUTED_IN.get(op, {}).get(step.dtype)
    if wide is None:
        return step.emit(op, x, axes, **attributes)
    return step.cast(step.emit(op, step.cast(x, wide), axes, **attributes), step.dtype)


@handler("topk")
def topk(step: Step) -> None:
    op = step.op
    names = step.emit_many("TopK", 2, step.input(0), step.dims(op.k), axis=op.axis, largest=int(op.largest), sorted=1)
    for index, name in enumerate(names):
        step.give(name, index)


@handler("topk_by_input")
def topk_by_input(step: Step) -> None:
    op = step.op
    most = step.dims((step.type().shape[op.axis],))
    count = step.emit("Min", step.input(1), most)
    names = step.emit_many("TopK", 2, step.input(0), count, axis=op.axis, largest=int(op.largest), sorted=1)
    for index, name in enumerate(names):
        step.give(name, index)
