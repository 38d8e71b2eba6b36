"""Operators that pick elements: slices, gathers, scatters, boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import as_places, gathered, marked, places_of_true
from buildtool.importers.soft_suppression import SoftLimits, softly_apart
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.ir.dims import Dim, minimum
from buildtool.ir.types import DType

_SCATTERS = {
    "TensorScatterAdd": "add",
    "TensorScatterMax": "max",
    "TensorScatterMin": "min",
    "TensorScatterUpdate": "none",
}


@handler("Slice")
def slice_(step: Step) -> Tensor:
    x = step.input(0)
    starts, sizes = step.known_dims(1, "starts"), list(step.known_dims(2, "sizes"))
    if not len(starts) == len(sizes) == x.rank:
        step.malformed(f"{len(starts)} starts and {len(sizes)} sizes for a tensor of rank {x.rank}")
    for axis, size in enumerate(sizes):
        if size == -1:
            sizes[axis] = x.shape[axis] - starts[axis]
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=tuple(sizes))


@handler("Gather", "GatherV2", "ResourceGather")
def gather(step: Step) -> Tensor:
    x, places, axis = step.input(0), step.input(1), 0
    if step.node.op == "GatherV2":
        axis = step.known_int(2, "axis")
        axis = step.axis(axis, x.rank)
    batches = step.integer("batch_dims", 0)
    if step.node.op != "GatherV2" and batches:
        axis = step.axis(batches, x.rank)
    return gathered(step, x, places, axis, batches)


@handler("GatherNd", "ResourceGatherNd")
def gather_nd(step: Step) -> Tensor:
    return step.emit("gather_nd", step.input(0), as_places(step, step.input(1)), batch_dims=0)


@handler("ScatterNd")
def scatter_nd(step: Step) -> Tensor:
    """What falls on one place is added."""
    places, updates = step.input(0), step.input(1)
    nothing = step.constant(np.zeros((), updates.dtype.numpy))
    empty = step.emit("broadcast_to", nothing, shape=step.known_dims(2, "shape"))
    return step.emit("scatter_nd", empty, as_places(step, places), updates, reduction="add")


@handler(*_SCATTERS)
def scatter_into(step: Step) -> Tensor:
    places = as_places(step, step.input(1))
    return step.emit("scatter_nd", step.input(0), places, step.input(2), reduction=_SCATTERS[step.node.op])


@handler("OneHot")
def one_hot(step: Step) -> Tensor:
    depth = step.known_int(1, "depth")
    return marked(step, step.input(0), depth, step.input(2), step.input(3), step.integer("axis", -1))


@handler("Where")
def where(step: Step) -> Tensor:
    return places_of_true(step, step.input(0))


@handler("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def boxes_apart(step: Step) -> Tensor:
    """Inputs: boxes [N, 4], scores [N], how many at most, and thresholds for overlaps and scores."""
    if step.node.op == "NonMaxSuppression":
        return _selected(step, step.real("iou_threshold", 0.5), -np.inf)
    least = step.known_number(4, "score_threshold") if step.node.op == "NonMaxSuppressionV3" else -np.inf
    return _selected(step, step.known_number(3, "iou_threshold"), least)


@handler("NonMaxSuppressionV4", "NonMaxSuppressionV5")
def boxes_apart_and_count(step: Step) -> Sequence[Tensor]:
    """Gives also how many there are, and may fill up the list with zeros; V5 has the scores between both."""
    with_scores = step.node.op == "NonMaxSuppressionV5"
    overlap, least = step.known_number(3, "iou_threshold"), step.known_number(4, "score_threshold")
    sigma = step.known_number(5, "soft_nms_sigma") if with_scores else 0.0
    if sigma > 0:  # then the threshold of overlaps is not read
        boxes, scores = _boxes_and_scores(step)
        places, scores = softly_apart(step, boxes, scores, SoftLimits(_most(step), least, sigma))
    else:
        places = _selected(step, overlap, least)
        scores = step.emit("gather", step.input(1), places, axis=0)
    count = step.emit("cast", step.emit("equal", places, places), to=DType.S32)
    count = step.emit("reduce_sum", count, axes=(0,), keepdims=False)
    if step.integer("pad_to_max_output_size", 0):
        places, scores = (_filled_up(step, tensor) for tensor in (places, scores))
    return (places, scores, count) if with_scores else (places, count)


def _selected(step: Step, overlap: float, least: float) -> Tensor:
    (boxes, scores), most = _boxes_and_scores(step), _most(step)
    count: Dim = scores.shape[0]
    (rows,) = step.emit_sized(
        "non_max_suppression",
        minimum(count, most),
        step.reshape(boxes, (1, *boxes.shape)),
        step.reshape(scores, (1, 1, count)),
        center_point_box=False,
        max_per_class=most,
        iou_threshold=overlap,
        score_threshold=float(least),
    )
    column = step.emit("gather", rows, step.constant(np.array(2, np.int64)), axis=1)
    return step.emit("cast", column, to=DType.S32)


def _boxes_and_scores(step: Step) -> tuple[Tensor, Tensor]:
    boxes, scores = step.input(0), step.input(1)
    if boxes.rank != 2 or scores.rank != 1:
        step.malformed(f"its inputs have the ranks {boxes.rank} and {scores.rank}, not 2 and 1")
    return boxes, scores


def _most(step: Step) -> int:
    most = step.known_number(2, "max_output_size")
    return int(min(max(most, 0), 2**31 - 1))


def _filled_up(step: Step, tensor: Tensor) -> Tensor:
    """With zeros to the largest number that there may be."""
    most = _most(step)
    rest = step.filled((most,), 0, tensor.dtype)
    longer = step.emit("concat", tensor, rest, axis=0)
    return step.emit("slice", longer, starts=(0,), steps=(1,), sizes=(most,))
