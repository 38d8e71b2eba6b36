"""Regions that detectors of two stages propose in a picture: made, spread over the levels of a pyramid, collected."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one
from buildtool.importers.paddle.values import flag, part, plus, scalar
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, minimum, product
from buildtool.ir.types import DType

_LARGEST_GROWTH = math.log(1000 / 16)  # of a side, as an exponent
_OUT = np.float32(-1e30)  # the score of a box that is left out
_LOWEST = -1e29


@handler("generate_proposals_v2", "generate_proposals")
def generate(step: Step) -> Outputs:
    """Where no box is large enough there is none; Paddle gives one without a size then."""
    scores, deltas = one(step, "Scores"), one(step, "BboxDeltas")
    if scores.rank != 4 or deltas.rank != 4 or scores.shape[0] != 1:
        step.unsupported("proposals for several images", "import the model with a batch of one")
    if step.real("eta", 1.0) < 1.0:
        step.unsupported("a threshold that falls", "set eta=1 when exporting")
    total = product(scores.shape)
    if not isinstance(total, int):
        step.unsupported("proposals in an image of a run-time size", "fix the input shapes")
    ranked = step.reshape(step.transpose(scores, (0, 2, 3, 1)), (total,))
    moves = step.reshape(step.transpose(deltas, (0, 2, 3, 1)), (total, 4))
    first = step.integer("pre_nms_topN", 6000)
    count = total if first <= 0 else min(first, total)
    best, places = step.emit_all("topk", ranked, axis=0, k=(count,), largest=True)
    anchors, variances = (step.reshape(one(step, slot), (total, 4)) for slot in ("Anchors", "Variances"))
    moves, anchors, variances = (step.emit("gather", item, places, axis=0) for item in (moves, anchors, variances))
    low, high = _moved(step, step.emit("mul", moves, variances), anchors)
    low, high = (_inside(step, corner) for corner in (low, high))
    best = step.emit("where", _is_large(step, low, high), best, scalar(step, float(_OUT), best))
    boxes = step.emit("concat", low, high, axis=1)
    most = step.integer("post_nms_topN", 1000)
    picked = _kept(step, boxes, best, count, count if most <= 0 else min(most, count))
    rows = step.emit("gather", boxes, picked, axis=0)
    probabilities = step.reshape(step.emit("gather", best, picked, axis=0), (picked.shape[0], 1))
    return {"RpnRois": rows, "RpnRoiProbs": probabilities, "RpnRoisNum": _number(step, picked.shape[0])}


def _offset(step: Step) -> float:
    """1 where the last row and column belong to a box."""
    return float(step.node.op == "generate_proposals" or flag(step, "pixel_offset", True))


def _moved(step: Step, moves: Tensor, anchors: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last corner of boxes that moved from where they began."""
    start, end = part(step, anchors, 1, 0, 2), part(step, anchors, 1, 2, 2)
    one_more = scalar(step, _offset(step), anchors)
    sides = plus(step, step.emit("sub", end, start), one_more)
    middle = plus(step, start, step.emit("mul", sides, scalar(step, 0.5, sides)))
    middle = plus(step, middle, step.emit("mul", part(step, moves, 1, 0, 2), sides))
    growth = step.emit("minimum", part(step, moves, 1, 2, 2), scalar(step, _LARGEST_GROWTH, moves))
    half = step.emit("mul", step.emit("mul", step.emit("exp", growth), sides), scalar(step, 0.5, sides))
    return step.emit("sub", middle, half), step.emit("sub", plus(step, middle, half), one_more)


def _size(step: Step) -> Tensor:
    """[1, 2]: width and height of the picture."""
    slot = "ImInfo" if step.node.op == "generate_proposals" else "ImShape"
    info = one(step, slot)
    if info.rank != 2 or info.shape[0] != 1:
        step.malformed(f"its input '{slot}' is {info.type}")
    return step.emit("concat", part(step, info, 1, 1, 1), part(step, info, 1, 0, 1), axis=1)


def _inside(step: Step, corner: Tensor) -> Tensor:
    size = _size(step)
    last = step.emit("sub", size, scalar(step, _offset(step), size))
    return step.emit("maximum", step.emit("minimum", corner, last), scalar(step, 0.0, corner))


def _is_large(step: Step, low: Tensor, high: Tensor) -> Tensor:
    """Whether boxes are large enough, and, counted in pixels, have their middle in the picture."""
    offset, sides = _offset(step), step.emit("sub", high, low)
    least = scalar(step, max(step.real("min_size", 0.1), 1.0), sides)
    measured = plus(step, sides, scalar(step, offset, sides))
    shown = measured
    if step.node.op == "generate_proposals":
        scale = part(step, one(step, "ImInfo"), 1, 2, 1)
        shown = plus(step, step.emit("div", sides, scale), scalar(step, 1.0, sides))
    fits = step.emit("less_equal", least, shown)
    if offset:
        middle = plus(step, low, step.emit("mul", measured, scalar(step, 0.5, sides)))
        fits = step.emit("logical_and", fits, step.emit("less_equal", middle, _size(step)))
    both = step.emit("reduce_min", step.emit("cast", fits, to=DType.S32), axes=(1,), keepdims=False)
    return step.emit("cast", both, to=DType.BOOL)


def _kept(step: Step, boxes: Tensor, scores: Tensor, count: int, most: int) -> Tensor:
    """The places of boxes that remain of those that overlap."""
    beyond = np.array([0, 0, 1, 1], np.float32) * np.float32(_offset(step))
    (kept,) = step.emit_sized(
        "non_max_suppression",
        most,
        step.reshape(plus(step, boxes, step.constant(beyond)), (1, count, 4)),
        step.reshape(scores, (1, 1, count)),
        center_point_box=False,
        max_per_class=most,
        iou_threshold=step.real("nms_thresh", 0.5),
        score_threshold=_LOWEST,
    )
    return step.reshape(part(step, kept, 1, 2, 1), (kept.shape[0],))


def _number(step: Step, count: Dim) -> Tensor:
    """How many there are, as data."""
    ones = step.emit("broadcast_to", step.constant(np.array(1, np.int32)), shape=(count,))
    return step.emit("reduce_sum", ones, axes=(0,), keepdims=True)


@handler("distribute_fpn_proposals")
def distribute(step: Step) -> Outputs:
    """Large boxes to coarse levels. RestoreIndex: where each box stands among those of all levels."""
    boxes = one(step, "FpnRois")
    lowest, highest = step.integer("min_level"), step.integer("max_level")
    if boxes.rank != 2 or boxes.shape[1] != 4 or not 0 <= lowest <= highest < 32:
        step.malformed(f"levels from {lowest} to {highest} for {boxes.type}")
    levels = _levels(step, boxes, lowest, highest)
    rows, counts, place = [], [], None
    before: Tensor = step.constant(np.zeros(1, np.int32))
    for level in range(lowest, highest + 1):
        is_here = step.emit("equal", levels, scalar(step, level, levels))
        (found,) = step.emit_sized("compress", boxes.shape[0], boxes, is_here, axis=0)
        rows.append(found)
        here = step.emit("cast", is_here, to=DType.S32)
        counts.append(step.emit("reduce_sum", here, axes=(0,), keepdims=True))
        ranks = step.emit("cumsum", here, axis=0, exclusive=True, reverse=False)
        mine = step.emit("mul", here, plus(step, ranks, before))
        place = mine if place is None else plus(step, place, mine)
        before = plus(step, before, counts[-1])
    assert place is not None
    restored = step.reshape(place, (boxes.shape[0], 1))
    return {"MultiFpnRois": rows, "RestoreIndex": restored, "MultiLevelRoIsNum": counts}


def _levels(step: Step, boxes: Tensor, lowest: int, highest: int) -> Tensor:
    """log2 of the side of a square of the same area, beside that of the level that the attributes refer to."""
    scale = step.integer("refer_scale")
    if scale < 1:
        step.malformed(f"the attribute 'refer_scale' is {scale}")
    sides = step.emit("sub", part(step, boxes, 1, 2, 2), part(step, boxes, 1, 0, 2))
    is_there = step.emit("less_equal", scalar(step, 0.0, sides), sides)
    counted = plus(step, sides, scalar(step, float(flag(step, "pixel_offset", True)), sides))
    counted = step.emit("where", is_there, counted, scalar(step, 0.0, sides))
    # A box whose corners are the wrong way round along one axis has no area.
    side = step.emit("sqrt", step.emit("reduce_prod", counted, axes=(1,), keepdims=False))
    ratio = plus(step, step.emit("mul", side, scalar(step, 1 / scale, side)), scalar(step, 1e-6, side))
    doubled = step.emit("mul", step.emit("log", ratio), scalar(step, 1 / math.log(2), side))
    level = step.emit("floor", plus(step, doubled, scalar(step, step.integer("refer_level"), side)))
    return step.emit("cast", step.emit("clip", level, low=float(lowest), high=float(highest)), to=DType.S32)


@handler("collect_fpn_proposals")
def collect(step: Step) -> Outputs:
    """The best of all levels."""
    boxes, scores = many(step, "MultiLevelRois"), many(step, "MultiLevelScores")
    if not boxes or len(boxes) != len(scores):
        step.malformed(f"{len(boxes)} levels of boxes and {len(scores)} of scores")
    numbers = many(step, "MultiLevelRoIsNum")
    if any(item.shape not in ((), (1,)) for item in numbers):
        step.unsupported("proposals of several images", "import the model with a batch of one")
    all_boxes = boxes[0] if len(boxes) == 1 else step.emit("concat", *boxes, axis=0)
    flat = [step.reshape(item, (step.size(item, 0),)) for item in scores]
    all_scores = flat[0] if len(flat) == 1 else step.emit("concat", *flat, axis=0)
    most = step.integer("post_nms_topN")
    if most < 1:
        step.malformed(f"the attribute 'post_nms_topN' is {most}")
    total = all_scores.shape[0]
    count = most if bounds(total)[0] >= most else minimum(total, most)
    _, places = step.emit_all("topk", all_scores, axis=0, k=(count,), largest=True)
    return {"FpnRois": step.emit("gather", all_boxes, places, axis=0), "RoisNum": _number(step, count)}


@handler("split_lod_tensor")
def split_rows(step: Step) -> Outputs:
    """The rows for which a mask holds, and the others."""
    x, mask = one(step, "X"), one(step, "Mask")
    rows = step.size(x, 0)
    holds = step.reshape(step.emit("cast", mask, to=DType.BOOL), (rows,))
    (true,) = step.emit_sized("compress", rows, x, holds, axis=0)
    (false,) = step.emit_sized("compress", rows, x, step.emit("logical_not", holds), axis=0)
    return {"OutTrue": true, "OutFalse": false}


@handler("merge_lod_tensor")
def merge_rows(step: Step) -> Tensor:
    """Each row from one of two tensors, in their order."""
    mask, true, false = one(step, "Mask"), maybe(step, "InTrue"), maybe(step, "InFalse")
    if true is None or false is None:
        step.malformed("one of its tensors is missing")
    count = product(mask.shape)
    here = step.reshape(step.emit("cast", mask, to=DType.S32), (count,))
    other = step.emit("sub", step.constant(np.array(1, np.int32)), here)
    places = [step.emit("cumsum", holds, axis=0, exclusive=True, reverse=False) for holds in (here, other)]
    behind = plus(step, places[1], step.emit("reduce_sum", here, axes=(0,), keepdims=True))
    index = step.emit("where", step.emit("cast", here, to=DType.BOOL), places[0], behind)
    return step.emit("gather", step.emit("concat", true, false, axis=0), index, axis=0)
