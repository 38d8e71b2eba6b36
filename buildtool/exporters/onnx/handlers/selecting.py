"""Operators whose results have as many elements as the data says."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.types import DType


@handler("non_zero")
def non_zero(step: Step) -> None:
    step.give(step.emit("NonZero", step.input(0)))


@handler("compress")
def compress(step: Step) -> None:
    step.give(step.emit("Compress", *step.inputs(), axis=step.op.axis))


@handler("unique")
def unique(step: Step) -> None:
    names = step.emit_many("Unique", 4, step.input(0), axis=step.op.axis, sorted=int(step.op.sorted))
    for index, name in enumerate(names):
        step.give(name, index)


@handler("non_max_suppression")
def non_max_suppression(step: Step) -> None:
    op = step.op
    most = step.writer.constant(np.array([op.max_per_class], np.int64), hint="most")
    limits = [_limit(step, op.iou_threshold)]
    if op.score_threshold != -np.inf:
        limits.append(_limit(step, op.score_threshold))
    step.give(
        step.emit("NonMaxSuppression", *step.inputs(), most, *limits, center_point_box=int(op.center_point_box) or None)
    )


def _limit(step: Step, number: float) -> str:
    return step.writer.constant(np.array([number], np.float32), DType.F32, "threshold")
