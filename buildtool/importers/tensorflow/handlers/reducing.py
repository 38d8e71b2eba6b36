"""Reductions, running sums, and places of extremes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import element_type
from buildtool.ir.types import DType
from buildtool.schemas import tensorflow_graph_pb2 as pb

_REDUCTIONS = {
    "Max": "reduce_max",
    "Mean": "reduce_mean",
    "Min": "reduce_min",
    "Prod": "reduce_prod",
    "Sum": "reduce_sum",
}
#: Element types that kernels select from as they are; narrower ones become s32, in which they keep their order.
_SELECTED = (DType.F32, DType.F64, DType.S32, DType.U32, DType.S64, DType.U64)


@handler(*_REDUCTIONS)
def reduction(step: Step) -> Tensor:
    return _reduced(step, _REDUCTIONS[step.node.op], step.input(0))


@handler("Any", "All")
def of_truth_values(step: Step) -> Tensor:
    """The largest says whether any is true, the smallest whether all are."""
    numbers = step.emit("cast", step.input(0), to=DType.U8)
    return step.emit(
        "cast", _reduced(step, "reduce_max" if step.node.op == "Any" else "reduce_min", numbers), to=DType.BOOL
    )


@handler("EuclideanNorm")
def norm(step: Step) -> Tensor:
    squares = step.emit("mul", step.input(0), step.input(0))
    return step.emit("sqrt", _reduced(step, "reduce_sum", squares))


def _reduced(step: Step, op: str, x: Tensor) -> Tensor:
    axes = tuple(sorted({step.axis(axis, x.rank) for axis in step.known_ints(1, "axes")}))
    if not axes:
        return x
    return step.emit(op, x, axes=axes, keepdims=step.integer("keep_dims", 0) != 0)


@handler("Cumsum", "Cumprod")
def running(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit(
        step.node.op.lower(),
        x,
        axis=_axis(step, x),
        exclusive=step.integer("exclusive", 0) != 0,
        reverse=step.integer("reverse", 0) != 0,
    )


@handler("ArgMax", "ArgMin")
def place_of_extreme(step: Step) -> Tensor:
    x = step.input(0)
    axis = _axis(step, x) if step.optional(1) is not None else 0
    place = step.emit(step.node.op.lower(), x, axis=axis, keepdims=False, select_last_index=False)
    wanted = element_type(step, "output_type", pb.DT_INT64)
    return place if wanted is DType.S64 else step.emit("cast", place, to=wanted)


def _axis(step: Step, x: Tensor) -> int:
    axes = step.known_ints(1, "axis")
    if len(axes) != 1:
        step.malformed(f"its axis (input 1) is {list(axes)}, not one number")
    return step.axis(axes[0], x.rank)


@handler("TopKV2")
def largest(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    counts = step.known_dims(1, "k")
    if len(counts) != 1:
        step.malformed(f"its k (input 1) is {list(counts)}, not one number")
    narrow = x.dtype not in _SELECTED
    numbers = step.emit("cast", x, to=DType.S32) if narrow else x
    values, places = step.emit_all("topk", numbers, axis=step.axis(-1, x.rank), k=counts, largest=True)
    wanted = element_type(step, "index_type", pb.DT_INT32)
    return (
        step.emit("cast", values, to=x.dtype) if narrow else values,
        places if wanted is DType.S64 else step.emit("cast", places, to=wanted),
    )
