"""The best boxes of every class as tables of a fixed size, as detectors of several frameworks end with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import gathered
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, minimum, product
from buildtool.ir.types import DType

#: The score of what was not selected. Selected scores are above a threshold, thus above this.
_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Limits:
    """A box is taken if its score is above `least`, unless its overlap with one taken before is above `overlap`."""

    per_class: int
    total: int
    overlap: float
    least: float


@dataclass(frozen=True)
class BestBoxes:
    """Of each image the best ones, `total` of them: all zeros behind the first `counts`."""

    boxes: Tensor  # [N, total, 4]
    scores: Tensor  # [N, total]
    kinds: Tensor  # [N, total] (s64): their classes
    places: Tensor  # [N, total] (s64): which of the given boxes
    valid: Tensor  # [N, total] (bool)
    counts: Tensor  # [N] (s32)


def best_boxes(step: Step, boxes: Tensor, scores: Tensor, limits: Limits) -> BestBoxes:
    """Takes boxes[N, B, 4], or [N, C, B, 4] where each class has its own, and scores[N, C, B]."""
    if limits.per_class < 1 or limits.total < 1:
        step.malformed(f"it selects {limits.per_class} boxes of a class and {limits.total} of an image")
    step.check_table(limits.total)
    images, classes, count = scores.shape
    kept = _kept(step, boxes, scores, limits)
    every: Dim = product((classes, count))
    if bounds(every)[0] < limits.total:
        rest = step.emit("broadcast_to", _number(step, _LOWEST), shape=(images, limits.total))
        kept = step.emit("concat", kept, rest, axis=1)
    best, places = step.emit_all("topk", kept, axis=1, k=(limits.total,), largest=True)
    valid = step.emit("less", _number(step, _LOWEST), best)
    places = step.emit("where", valid, places, step.constant(np.array(0, np.int64)))
    width = Tensor.of(np.array(count, object))
    within = step.emit("mod", places, width, fmod=False)
    flat = boxes if boxes.rank == 3 else step.reshape(boxes, (images, every, 4))
    taken = gathered(step, flat, within if boxes.rank == 3 else places, 1, 1)
    nothing = _number(step, 0.0)
    return BestBoxes(
        step.emit("where", step.reshape(valid, (images, limits.total, 1)), taken, nothing),
        step.emit("where", valid, best, nothing),
        step.emit("div", places, width),
        within,
        valid,
        step.emit("reduce_sum", step.emit("cast", valid, to=DType.S32), axes=(1,), keepdims=False),
    )


def _kept(step: Step, boxes: Tensor, scores: Tensor, limits: Limits) -> Tensor:
    """The scores [N, C * B] of what is selected, and the lowest number elsewhere."""
    images, classes, count = scores.shape
    if boxes.rank == 4:  # each class is an image of its own
        rows = product((images, classes))
        boxes, scores = step.reshape(boxes, (rows, count, 4)), step.reshape(scores, (rows, 1, count))
    (selected,) = step.emit_sized(
        "non_max_suppression",
        product((images, classes, minimum(count, limits.per_class))),
        boxes,
        scores,
        center_point_box=False,
        max_per_class=limits.per_class,
        iou_threshold=limits.overlap,
        score_threshold=limits.least,
    )
    nothing = step.emit("broadcast_to", _number(step, _LOWEST), shape=scores.shape)
    picked = step.emit("gather_nd", scores, selected, batch_dims=0)
    kept = step.emit("scatter_nd", nothing, selected, picked, reduction="none")
    return step.reshape(kept, (images, product((classes, count))))


def _number(step: Step, value: float) -> Tensor:
    return step.constant(np.array(value, np.float32))


def at_least(threshold: float) -> float:
    """A threshold for `above`, where a framework also takes what equals the given one."""
    return float(np.nextafter(np.float32(threshold), np.float32(-np.inf)))
