"""The last operator of detectors."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.boxes import Limits, best_boxes
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.ir.types import DType


@handler("CombinedNonMaxSuppression")
def best_of_all_classes(step: Step) -> Sequence[Tensor]:
    """Inputs: boxes [N, B, 1 or C, 4], scores [N, B, C], how many of a class and in all, and two thresholds."""
    boxes = step.check_rank(step.input(0), 4, what="its boxes")
    scores = step.check_rank(step.input(1), 3, what="its scores")
    images, count, kinds = scores.shape
    if boxes.shape[2] not in (1, kinds):
        step.malformed(f"{boxes.shape[2]} boxes each for {kinds} classes")
    each, total = step.known_int(2, "max_output_size_per_class"), step.known_int(3, "max_total_size")
    if step.integer("pad_per_class", 0):
        if not isinstance(kinds, int):
            step.unsupported("a number of classes that is known only at run time", "fix the input shapes")
        total = min(total, each * kinds)
    limits = Limits(each, total, step.known_number(4, "iou_threshold"), step.known_number(5, "score_threshold"))
    shared = boxes.shape[2] == 1
    boxes = step.reshape(boxes, (images, count, 4)) if shared else step.transpose(boxes, (0, 2, 1, 3))
    found = best_boxes(step, boxes, step.transpose(scores, (0, 2, 1)), limits)
    corners = found.boxes
    if step.integer("clip_boxes", 1):
        corners = step.emit("clip", corners, low=0.0, high=1.0)
    return corners, found.scores, step.emit("cast", found.kinds, to=DType.F32), found.counts
