"""Operators that select elements by their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, minimum, product
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
    if step.opset >= 10 and step.input(1).known is None:
        k = step.reshape(step.input(1), (1,))
        values, places = step.emit_sized("topk_by_input", x.shape[axis], selected, k, axis=axis, largest=largest)
    else:
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


@handler("NonZero")
def non_zero(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    return step.emit_sized("non_zero", product(x.shape), x)


@handler("Compress")
def compress(step: Step) -> Tensor:
    """A condition that is known picks places that are known."""
    x, condition = step.input(0), step.input(1)
    axis = step.axis(step.integer("axis"), x.rank) if step.has("axis") else 0
    if not step.has("axis"):
        x = step.reshape(x, (product(x.shape),))
    if condition.content is not None:
        if condition.dtype is not DType.BOOL or condition.rank != 1:
            step.malformed(f"its condition is {condition.type}, no list of bool")
        return step.emit("gather", x, step.constant(np.flatnonzero(condition.content)), axis=axis)
    (y,) = step.emit_sized("compress", step.size(condition, 0), x, condition, axis=axis)
    return y


@handler("Unique")
def unique(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    axis = step.axis(step.integer("axis"), x.rank) if step.has("axis") else 0
    if not step.has("axis"):
        x = step.reshape(x, (product(x.shape),))
    return step.emit_sized("unique", x.shape[axis], x, axis=axis, sorted=bool(step.integer("sorted", 1)))


@handler("NonMaxSuppression")
def non_max_suppression(step: Step) -> Sequence[Tensor]:
    boxes, scores = step.input(0), step.input(1)
    if boxes.rank != 3 or scores.rank != 3:
        step.malformed(f"its inputs have the ranks {boxes.rank} and {scores.rank}, not 3")
    most = step.whole(_known_or(step, 2, "max_output_boxes_per_class", 0.0), "max_output_boxes_per_class")
    most = min(most, 2**31 - 1)
    return step.emit_sized(
        "non_max_suppression",
        product((*scores.shape[:2], minimum(scores.shape[2], most))),
        boxes,
        scores,
        center_point_box=bool(step.integer("center_point_box", 0)),
        max_per_class=max(most, 0),
        iou_threshold=_known_or(step, 3, "iou_threshold", 0.0),
        score_threshold=_known_or(step, 4, "score_threshold", -np.inf),
    )


def _known_or(step: Step, index: int, what: str, default: float) -> float:
    return step.known_number(index, what) if step.optional(index) is not None else default
