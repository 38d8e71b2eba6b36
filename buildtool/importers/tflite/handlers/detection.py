"""Boxes that do not overlap, and the last operator of detectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.boxes import BestBoxes, Limits, at_least, best_boxes
from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import gathered
from buildtool.importers.soft_suppression import SoftLimits, softly_apart
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.tflite.custom_options import NamedOptions
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real
from buildtool.ir.dims import product
from buildtool.ir.types import DType


@handler("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def boxes_apart(step: Step) -> Sequence[Tensor]:
    """Inputs: boxes [N, 4], scores [N], how many at most, thresholds for overlaps and scores, and in V5 a sigma."""
    boxes, scores = step.check_rank(step.input(0), 2, what="its boxes"), step.check_rank(step.input(1), 1)
    with_scores = step.node.op == "NON_MAX_SUPPRESSION_V5"
    most = step.known_int(2, "max_output_size")
    overlap, least = step.known_number(3, "iou_threshold"), step.known_number(4, "score_threshold")
    sigma = step.known_number(5, "soft_nms_sigma") if with_scores else 0.0
    if sigma > 0:
        return _softly_apart(step, boxes, scores, SoftLimits(most, least, sigma, at_least(overlap)))
    count = scores.shape[0]
    found = best_boxes(
        step,
        step.reshape(boxes, (1, count, 4)),
        step.reshape(scores, (1, 1, count)),
        Limits(most, most, _or_equal(overlap), least),
    )
    places = step.emit("cast", step.reshape(found.places, (most,)), to=DType.S32)
    total = step.reshape(found.counts, ())
    return (places, step.reshape(found.scores, (most,)), total) if with_scores else (places, total)


def _softly_apart(step: Step, boxes: Tensor, scores: Tensor, limits: SoftLimits) -> Sequence[Tensor]:
    """Places, scores and how many there are; the tables are filled up with zeros."""
    places, best = softly_apart(step, boxes, scores, limits)
    taken = step.emit("cast", step.emit("equal", places, places), to=DType.S32)
    rest = [step.filled((limits.most,), 0, tensor.dtype) for tensor in (places, best)]
    longer = [step.emit("concat", *pair, axis=0) for pair in zip((places, best), rest, strict=True)]
    filled = [step.emit("slice", one, starts=(0,), steps=(1,), sizes=(limits.most,)) for one in longer]
    return *filled, step.emit("reduce_sum", taken, axes=(0,), keepdims=False)


def _or_equal(overlap: float) -> float:
    """An overlap that is equal to the threshold is too much here; two steps cover the rounding of the product."""
    return max(at_least(at_least(overlap)), 0.0)


@handler("TFLite_Detection_PostProcess")
def detections(step: Step) -> Sequence[Tensor]:
    """Inputs: codes of boxes [1, N, 4], scores [1, N, C], and anchors [N, 4] (centre y, x, height, width).

    Outputs: boxes, classes, scores and the number of objects. The fast way tries each box once, for its best class,
    and gives the next best ones, too.
    """
    options = NamedOptions(step)
    codes, scores, anchors = (step.check_rank(real(step, index), rank) for index, rank in enumerate((3, 3, 2)))
    classes, given = options.integer("num_classes"), step.size(scores, 2)
    if not isinstance(given, int) or not 0 < classes <= given:
        step.malformed(f"{given} scores of a box for {classes} classes")
    if given > classes:  # the background is in front
        sizes = (*scores.shape[:2], classes)
        scores = step.emit("slice", scores, starts=(0, 0, given - classes), steps=(1, 1, 1), sizes=sizes)
    boxes = _decoded(step, codes, anchors, options)
    total, each = options.integer("max_detections"), options.integer("max_classes_per_detection")
    if each < 1:
        step.malformed(f"it gives {each} classes for a box")
    step.check_table(total, each)
    overlap, least = options.real("nms_iou_threshold"), at_least(options.real("nms_score_threshold"))
    if options.flag("use_regular_nms", False):
        limits = Limits(options.integer("detections_per_class", 100), total, overlap, least)
        found = best_boxes(step, boxes, step.transpose(scores, (0, 2, 1)), limits)
        results = [found.boxes, step.emit("cast", found.kinds, to=DType.F32), found.scores]
        results = [_longer(step, result, total * each) for result in results]
    else:
        highest = step.emit("reduce_max", scores, axes=(2,), keepdims=False)
        highest = step.reshape(highest, (scores.shape[0], 1, scores.shape[1]))
        found = best_boxes(step, boxes, highest, Limits(total, total, overlap, least))
        results = _with_classes(step, found, scores, each)
    return *results, step.emit("cast", found.counts, to=DType.F32)


def _with_classes(step: Step, found: BestBoxes, scores: Tensor, each: int) -> list[Tensor]:
    """Boxes, classes and scores, `each` for a box; zeros where there are fewer classes."""
    images, total = found.scores.shape
    number = min(each, channels(step, scores, 2))
    highest, kinds = step.emit_all("topk", scores, axis=2, k=(number,), largest=True)
    kept = step.reshape(found.valid, (images, total, 1))
    zero = step.constant(np.array(0, np.float32))
    results = []
    for numbers in (step.emit("cast", kinds, to=DType.F32), highest):
        taken = step.emit("where", kept, gathered(step, numbers, found.places, 1, 1), zero)
        results.append(step.reshape(_longer(step, taken, each, 2), (images, product((total, each)))))
    boxes = step.reshape(found.boxes, (images, total, 1, 4))
    boxes = step.emit("broadcast_to", boxes, shape=(images, total, number, 4))
    boxes = step.reshape(_longer(step, boxes, each, 2), (images, product((total, each)), 4))
    return [boxes, *results]


def _longer(step: Step, x: Tensor, size: int, axis: int = 1) -> Tensor:
    """With zeros behind."""
    missing = size - channels(step, x, axis)
    if not missing:
        return x
    after = tuple(missing if other == axis else 0 for other in range(x.rank))
    return step.emit("pad", x, before=(0,) * x.rank, after=after, mode="constant", value=0.0)


def _decoded(step: Step, codes: Tensor, anchors: Tensor, options: NamedOptions) -> Tensor:
    """The corners [1, N, 4] (y, x, y, x) of boxes that are coded as shifts and logarithms of an anchor's sides."""
    sides = [options.real(f"{side}_scale") for side in "yxhw"]
    if min(sides) <= 0:
        step.malformed(f"its scales are {sides}")
    scaled = step.emit("div", codes, step.constant(np.array(sides, np.float32)))
    shift, growth = _halves(step, scaled)
    centre, extent = _halves(step, anchors)
    middle = step.emit("add", step.emit("mul", shift, extent), centre, **NO_ACTIVATION)
    half = step.emit("mul", step.emit("exp", growth), extent)
    half = step.emit("mul", half, step.constant(np.array(0.5, np.float32)))
    return step.emit("concat", step.emit("sub", middle, half), step.emit("add", middle, half, **NO_ACTIVATION), axis=2)


def _halves(step: Step, x: Tensor) -> tuple[Tensor, ...]:
    """Two numbers each of the last axis, which has four."""
    last = x.rank - 1
    if step.size(x, last) != 4:
        step.malformed(f"boxes of {step.size(x, last)} numbers")
    return step.emit_all("split", x, axis=last, sizes=(2, 2))
