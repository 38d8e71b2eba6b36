"""Reductions, and the places of extremes.

The axes were an attribute at first and are an input later: of ReduceSum from opset 13, of the others from 18.
"""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.types import DType

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
    if x.dtype is DType.BOOL:  # of truth values, the largest says whether any is true
        numbers = _reduced(step, _REDUCTIONS[step.node.op], step.emit("cast", x, to=DType.U8))
        return step.emit("cast", numbers, to=DType.BOOL)
    return _reduced(step, _REDUCTIONS[step.node.op], x)


@handler("ReduceL1")
def sum_of_sizes(step: Step) -> Tensor:
    return _reduced(step, "reduce_sum", step.emit("abs", step.input(0)))


@handler("ReduceSumSquare")
def sum_of_squares(step: Step) -> Tensor:
    x = step.input(0)
    return _reduced(step, "reduce_sum", step.emit("mul", x, x))


@handler("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
def in_real_numbers(step: Step) -> Tensor:
    """Reductions that go through a square root or logarithm; of integers they are cut towards zero."""
    x = step.input(0)
    compute = {"ReduceL2": _length, "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp}[step.node.op]
    if x.dtype.is_float:
        return compute(step, x)
    return step.emit("cast", compute(step, step.emit("cast", x, to=DType.F64)), to=x.dtype)


def _length(step: Step, x: Tensor) -> Tensor:
    return step.emit("sqrt", _reduced(step, "reduce_sum", step.emit("mul", x, x)))


def _log_sum(step: Step, x: Tensor) -> Tensor:
    return step.emit("log", _reduced(step, "reduce_sum", x))


def _log_sum_exp(step: Step, x: Tensor) -> Tensor:
    """The largest element is taken off before and added again afterwards, so that nothing overflows."""
    axes = _axes(step, x)
    largest = step.emit("reduce_max", x, axes=axes, keepdims=True)
    is_infinite = step.emit("is_inf", largest, negative=True, positive=True)
    offset = step.emit("where", is_infinite, step.constant(np.zeros((), x.dtype.numpy)), largest)
    powers = step.emit("exp", step.emit("sub", x, offset))
    total = step.emit("log", step.emit("reduce_sum", powers, axes=axes, keepdims=True))
    y = step.emit("add", total, offset, **NO_ACTIVATION)
    if step.integer("keepdims", 1):
        return y
    return step.reshape(y, tuple(dim for axis, dim in enumerate(y.shape) if axis not in axes))


@handler("ArgMax", "ArgMin")
def place(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit(
        step.node.op.lower(),
        x,
        axis=step.axis(step.integer("axis", 0), x.rank),
        keepdims=bool(step.integer("keepdims", 1)),
        select_last_index=bool(step.integer("select_last_index", 0)),
    )


def _reduced(step: Step, op: str, x: Tensor) -> Tensor:
    axes = _axes(step, x)
    if not axes and x.rank:
        return step.emit("identity", x)
    return step.emit(op, x, axes=axes, keepdims=bool(step.integer("keepdims", 1)))


def _axes(step: Step, x: Tensor) -> tuple[int, ...]:
    """The axes that are reduced, sorted; none where the node says that none means none."""
    stated = reduced_axes(step)
    if not stated and step.integer("noop_with_empty_axes", 0):
        return ()
    return tuple(sorted(step.axes(stated, x.rank))) or tuple(range(x.rank))


def reduced_axes(step: Step) -> tuple[int, ...]:
    """The axes as stated; empty for all."""
    if step.opset >= (13 if step.node.op == "ReduceSum" else 18):
        return step.known_ints(1, "axes") if step.optional(1) is not None else ()
    return step.integers("axes", ())
