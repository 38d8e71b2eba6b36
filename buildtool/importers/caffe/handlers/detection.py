"""Detectors: prior boxes, the objects found, and regions that are proposed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import known_sizes, picture
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array

_SAME = 1e-6  # ratios that differ by less are one
_LOWEST = float(np.finfo(np.float32).min)
_FIRST = {"feat_stride": 16, "base_size": 16, "min_size": 16, "pre_nms_topn": 6000, "post_nms_topn": 300}


# -- SSD ---------------------------------------------------------------------------------------------------------------
@handler("PriorBox")
def prior_boxes(step: Step) -> Tensor:
    """Boxes around each place of the first bottom, as parts of the second: known as soon as both sizes are."""
    height, width = known_sizes(step, picture(step, 0).shape[2:], "prior boxes for a blob of")
    whole = _sides_of_picture(step)
    step_h, step_w = _steps(step, whole, (height, width))
    shapes = _shapes_of_priors(step)
    step.check_table(height, width, len(shapes), 8)
    offset, dtype = step.real("offset", 0.5), np.float32
    centers_y = (np.arange(height, dtype=dtype) + dtype(offset)) * dtype(step_h)
    centers_x = (np.arange(width, dtype=dtype) + dtype(offset)) * dtype(step_w)
    boxes = np.empty((height, width, len(shapes), 4), np.float32)
    half = np.array(shapes, np.float32) / dtype(2)  # width, height
    boxes[..., 0], boxes[..., 2] = (centers_x[None, :, None] + sign * half[:, 0] for sign in (-1, 1))
    boxes[..., 1], boxes[..., 3] = (centers_y[:, None, None] + sign * half[:, 1] for sign in (-1, 1))
    boxes /= np.array([whole[1], whole[0], whole[1], whole[0]], np.float32)
    if step.integer("clip", 0):
        boxes = np.clip(boxes, 0, 1)
    variances = np.broadcast_to(np.array(_variances(step), np.float32), boxes.shape)
    return step.constant(np.stack([boxes.reshape(-1), variances.reshape(-1)])[None])


def _sides_of_picture(step: Step) -> tuple[int, int]:
    """Height and width: those of the second bottom, unless they are stated."""
    if step.has("img_size"):
        stated = step.integer("img_size"), step.integer("img_size")
    elif step.has("img_h") or step.has("img_w"):
        stated = step.integer("img_h"), step.integer("img_w")
    else:
        height, width = known_sizes(step, picture(step, 1).shape[2:], "prior boxes on an image of")
        stated = height, width
    if min(stated) < 1:
        step.malformed(f"the image is {stated[0]} x {stated[1]}")
    return stated


def _steps(step: Step, whole: tuple[int, int], places: tuple[int, int]) -> tuple[float, float]:
    """How far the places lie apart in the picture."""
    both = step.real("step", 0.0)
    stated = step.real("step_h", both), step.real("step_w", both)
    if min(stated) > 0:
        return stated
    if min(places) < 1:
        step.malformed("its first bottom has no spatial positions")
    return whole[0] / places[0], whole[1] / places[1]


def _shapes_of_priors(step: Step) -> list[tuple[float, float]]:
    """Width and height of the boxes of one place: of each size a square, one for the larger size, and the ratios."""
    least, most = step.reals("min_size", []), step.reals("max_size", [])
    if not least or (most and len(most) != len(least)):
        step.malformed(f"{len(least)} sizes 'min_size' and {len(most)} sizes 'max_size'")
    if min(least) <= 0 or any(large <= small for small, large in zip(least, most, strict=False)):
        step.malformed(f"the sizes {list(least)} and {list(most)}")
    ratios = [1.0]
    for ratio in step.reals("aspect_ratio", []):
        if ratio <= 0 or not math.isfinite(ratio):
            step.malformed(f"an aspect ratio of {ratio}")
        if all(abs(ratio - known) >= _SAME for known in ratios):
            ratios += [ratio, 1.0 / ratio] if step.integer("flip", 1) else [ratio]
    shapes: list[tuple[float, float]] = []
    for index, size in enumerate(least):
        shapes.append((size, size))
        if most:
            side = math.sqrt(size * most[index])
            shapes.append((side, side))
        shapes += [(size * math.sqrt(ratio), size / math.sqrt(ratio)) for ratio in ratios if abs(ratio - 1.0) >= _SAME]
    return shapes


def _variances(step: Step) -> Sequence[float]:
    variances = step.reals("variance", []) or (0.1,)
    if len(variances) not in (1, 4) or min(variances) <= 0:
        step.malformed(f"the variances {list(variances)}: there is one, or one for each coordinate of a box")
    return variances


@handler("DetectionOutput")
def detections(step: Step) -> Tensor:
    """Bottoms: codes of boxes, scores, prior boxes."""
    codes, scores = (_rows(step, step.input(index)) for index in (0, 1))
    classes, priors = step.integer("num_classes"), step.input(2)
    (numbers, scored) = known_sizes(
        step, (step.size(priors, -1), scores.shape[1]), "prior boxes and scores of the sizes"
    )
    encoded = bool(step.integer("variance_encoded_in_target", 0))
    if encoded and priors.rank == 3 and priors.shape[1] == 1:  # what nobody reads may be left out
        priors = step.emit("concat", priors, priors, axis=1)
    own = 1 if step.integer("share_location", 1) else classes
    if len(step.inputs) > 3:
        step.unsupported("scores of objects, as RefineDet has them", "cut the model before this layer")
    if classes < 1 or scored != numbers // 4 * classes or codes.shape[1] != numbers * own:
        step.malformed(f"{scored} scores and {codes.shape[1]} codes for {numbers // 4} boxes of {classes} classes")
    if step.real("eta", 1.0) != 1.0:
        step.unsupported("a threshold of overlaps that falls with every box ('eta')", "remove eta from nms_param")
    each, most = max(step.integer("top_k", -1), -1), max(step.integer("keep_top_k", -1), -1)
    bound = (numbers // 4 if each < 0 else min(each, numbers // 4)) * classes
    (found,) = step.emit_sized(
        "detection_output",
        scores.shape[0] * (bound if most < 0 else min(bound, most)),
        codes,
        scores,
        priors,
        code=step.text("code_type", "CORNER").lower(),
        variances_in_codes=encoded,
        background=step.integer("background_label_id", 0),
        score_threshold=step.real("confidence_threshold", _LOWEST),
        iou_threshold=step.real("nms_threshold", 0.3),
        most_per_class=each,
        most_per_picture=most,
    )
    return found


def _rows(step: Step, x: Tensor) -> Tensor:
    """[N, ...] -> [N, K]"""
    if x.rank < 2:
        step.malformed(f"a bottom has rank {x.rank}")
    return step.reshape(x, (x.shape[0], product(x.shape[1:])))


# -- Faster R-CNN ------------------------------------------------------------------------------------------------------
@handler("Proposal")
def proposals(step: Step) -> Sequence[Tensor]:
    """Bottoms: scores [1, 2A, H, W] of background and objects, moves [1, 4A, H, W], height, width and scale [1, 3]."""
    scores, moves, info = picture(step, 0), picture(step, 1), step.reshape(step.input(2), (3,))
    shapes = _shapes_of_anchors(step)
    count = len(shapes)
    (batch, deep, height, width) = known_sizes(step, scores.shape, "proposals from scores")
    if batch != 1:
        step.unsupported(f"proposals for {batch} images", "only one image is supported")
    if deep != 2 * count or moves.shape != (1, 4 * count, height, width) or min(height, width) < 1:
        step.malformed(f"{deep} scores and moves {list(map(str, moves.shape))} for {count} boxes at each position")
    total = height * width * count
    low, high = _moved_anchors(step, moves, shapes, (height, width))
    low, high = (_inside(step, corner, info) for corner in (low, high))
    ranked = step.reshape(step.transpose(_part(step, scores, 1, count, count), (0, 2, 3, 1)), (total,))
    ranked = _without_small(step, ranked, low, high, info)
    first = min(_whole(step, "pre_nms_topn"), total)
    best, places = step.emit_all("topk", ranked, axis=0, k=(first,), largest=True)
    boxes = step.emit("gather", step.emit("concat", low, high, axis=1), places, axis=0)
    one_beyond = step.constant(np.array([0, 0, 1, 1], np.float32))  # the last row and column belong to a box
    kept = _kept(step, step.emit("add", boxes, one_beyond, **NO_ACTIVATION), best, first)
    picked = step.reshape(_part(step, kept, 1, 2, 1), (kept.shape[0],))
    number = step.emit("cast", _part(step, kept, 1, 0, 1), to=boxes.dtype)
    regions = step.emit("concat", number, step.emit("gather", boxes, picked, axis=0), axis=1)
    return regions, step.reshape(step.emit("gather", best, picked, axis=0), (kept.shape[0], 1))


def _whole(step: Step, name: str) -> int:
    value = step.integer(name, _FIRST[name])
    if value < 1:
        step.malformed(f"'{name}' is {value}")
    return value


def _shapes_of_anchors(step: Step) -> list[tuple[float, float]]:
    """Width and height of the boxes at each place."""
    base, shapes = _whole(step, "base_size"), []
    for ratio in step.reals("ratio", []) or (0.5, 1.0, 2.0):
        if not 0 < ratio < math.inf:
            step.malformed(f"a ratio of {ratio}")
        width = math.floor(base / math.sqrt(ratio) + 0.5)
        height = math.floor(width * ratio + 0.5)
        shapes += [(width * scale, height * scale) for scale in step.reals("scale", []) or (8.0, 16.0, 32.0)]
    return shapes


def _moved_anchors(
    step: Step, moves: Tensor, shapes: list[tuple[float, float]], places: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """The first and the last corner (x, y) of every box, place by place."""
    (height, width), count, stride = places, len(shapes), _whole(step, "feat_stride")
    total = height * width * count
    step.check_table(total, 4)
    middle = (_whole(step, "base_size") - 1) / 2 + 0.5
    columns, rows = np.meshgrid(np.arange(width) * stride + middle, np.arange(height) * stride + middle)
    centers = np.repeat(np.stack([columns, rows], axis=-1).reshape(-1, 2), count, axis=0)
    sides = _floats(step, np.tile(np.array(shapes), (height * width, 1)))
    by_box = step.reshape(step.transpose(moves, (0, 2, 3, 1)), (total, 4))
    offset = step.emit("mul", _part(step, by_box, 1, 0, 2), sides)
    center = step.emit("add", offset, _floats(step, centers), **NO_ACTIVATION)
    half = step.emit("mul", step.emit("mul", step.emit("exp", _part(step, by_box, 1, 2, 2)), sides), _floats(step, 0.5))
    return step.emit("sub", center, half), step.emit("add", center, half, **NO_ACTIVATION)


def _inside(step: Step, corner: Tensor, info: Tensor) -> Tensor:
    """The nearest corner inside of the picture."""
    sides = step.emit("gather", info, step.constant(np.array([1, 0], np.int32)), axis=0)  # width, height
    last = step.emit("sub", sides, _floats(step, 1.0))
    return step.emit("maximum", step.emit("minimum", corner, last), _floats(step, 0.0))


def _without_small(step: Step, scores: Tensor, low: Tensor, high: Tensor, info: Tensor) -> Tensor:
    """Scores, but none for boxes with a side below the least one."""
    sides = step.emit("add", step.emit("sub", high, low), _floats(step, 1.0), **NO_ACTIVATION)
    least = step.emit("mul", _part(step, info, 0, 2, 1), _floats(step, float(step.integer("min_size", 16))))
    fits = step.emit("less_equal", least, step.emit("reduce_min", sides, axes=(1,), keepdims=False))
    return step.emit("where", fits, scores, _floats(step, -np.inf))


def _kept(step: Step, boxes: Tensor, scores: Tensor, count: int) -> Tensor:
    """[size, 3]: which boxes remain of those that overlap."""
    most, threshold = _whole(step, "post_nms_topn"), step.real("nms_thresh", 0.7)
    (kept,) = step.emit_sized(
        "non_max_suppression",
        min(count, most),
        step.reshape(boxes, (1, count, 4)),
        step.reshape(scores, (1, 1, count)),
        center_point_box=False,
        max_per_class=min(count, most),
        iou_threshold=threshold,
        score_threshold=_LOWEST,
    )
    return kept


def _floats(step: Step, values: Array | float) -> Tensor:
    return step.constant(np.array(values, np.float32))


def _part(step: Step, x: Tensor, axis: int, first: int, count: int) -> Tensor:
    """`count` elements along an axis, from `first` on."""
    sizes: list[Dim] = list(x.shape)
    sizes[axis] = count
    starts = tuple(first if one == axis else 0 for one in range(x.rank))
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=tuple(sizes))
