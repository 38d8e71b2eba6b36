"""What detectors have: boxes that only the sizes of pictures decide, boxes from what a network says, suppression."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one
from buildtool.importers.paddle.values import as_type, flag, part, plus, scalar
from buildtool.importers.step import Step
from buildtool.ir.dims import minimum, product
from buildtool.ir.operator import Array
from buildtool.ir.types import DType


def _sides(step: Step, x: Tensor) -> tuple[int, int]:
    """Height and width of [N, C, H, W]."""
    if x.rank != 4:
        step.malformed(f"its input has rank {x.rank}, not 4")
    height, width = x.shape[2:]
    if not isinstance(height, int) or not isinstance(width, int) or min(height, width) < 1:
        step.unsupported(f"boxes of images of {height} x {width}", "fix the input shapes")
    return height, width


# -- boxes that only sizes decide --------------------------------------------------------------------------------------
@handler("prior_box")
def prior_box(step: Step) -> Outputs:
    height, width = _sides(step, one(step, "Input"))
    high, wide = _sides(step, one(step, "Image"))
    step_w, step_h = step.real("step_w", 0.0), step.real("step_h", 0.0)
    if step_w == 0 or step_h == 0:
        step_w, step_h = wide / width, high / height
    offset = step.real("offset", 0.5)
    halves = _prior_sides(step)
    step.check_table(height, width, len(halves), 4)
    across = (np.arange(width) + offset) * step_w
    down = (np.arange(height) + offset) * step_h
    boxes = _around(across, down, halves, (wide, high, wide, high))
    if flag(step, "clip"):
        boxes = np.clip(boxes, 0, 1)
    return _with_variances(step, boxes)


def _prior_sides(step: Step) -> list[tuple[float, float]]:
    """Half the width and half the height of each box at a place."""
    ratios = _ratios(step)
    largest = step.reals("max_sizes", ())
    smallest = step.reals("min_sizes")
    if largest and len(largest) != len(smallest):
        step.malformed(f"{len(smallest)} smallest and {len(largest)} largest sizes")
    sides: list[tuple[float, float]] = []
    for index, size in enumerate(smallest):
        by_ratio = [(size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2) for ratio in ratios]
        square = [(math.sqrt(size * largest[index]) / 2,) * 2] if largest else []
        if flag(step, "min_max_aspect_ratios_order"):
            sides += [(size / 2, size / 2), *square, *(by_ratio[i] for i, r in enumerate(ratios) if abs(r - 1) >= 1e-6)]
        else:
            sides += [*by_ratio, *square]
    return sides


def _ratios(step: Step) -> list[float]:
    """1 comes first; each other one once, and where asked for with its reciprocal."""
    ratios = [1.0]
    for ratio in step.reals("aspect_ratios", (1.0,)):
        if ratio <= 0:
            step.malformed(f"the ratio {ratio}")
        if any(abs(ratio - other) < 1e-6 for other in ratios):
            continue
        ratios += [ratio, 1 / ratio] if flag(step, "flip") else [ratio]
    return ratios


def _around(across: Array, down: Array, halves: Sequence[tuple[float, float]], sizes: Sequence[float]) -> Array:
    """Boxes [H, W, P, 4] (left, top, right, bottom) around places, over the sizes of the picture."""
    sides = np.array(halves).reshape(-1, 2)
    x, y = across[None, :, None], down[:, None, None]
    w, h = sides[None, None, :, 0], sides[None, None, :, 1]
    corners = np.broadcast_arrays(x - w, y - h, x + w, y + h)
    return np.asarray((np.stack(corners, axis=-1) / np.array(sizes)).astype(np.float32))


def _with_variances(step: Step, boxes: Array, names: tuple[str, str] = ("Boxes", "Variances")) -> Outputs:
    variances = np.array(step.reals("variances", (0.1, 0.1, 0.2, 0.2)), np.float32)
    if variances.size != 4:
        step.malformed(f"{variances.size} variances instead of 4")
    if step.node.op == "density_prior_box" and flag(step, "flatten_to_2d"):
        boxes = boxes.reshape(-1, 4)
    spread = np.broadcast_to(variances, boxes.shape)
    return {names[0]: step.constant(boxes), names[1]: step.constant(spread)}


@handler("density_prior_box")
def density_prior_box(step: Step) -> Outputs:
    """Of each size several boxes, whose centres lie on a grid around the place."""
    height, width = _sides(step, one(step, "Input"))
    high, wide = _sides(step, one(step, "Image"))
    step_w, step_h = step.real("step_w", 0.0), step.real("step_h", 0.0)
    if step_w == 0 or step_h == 0:
        step_w, step_h = wide / width, high / height
    offset, average = step.real("offset", 0.5), step.whole((step_w + step_h) * 0.5, "distance of places")
    sizes, densities = step.reals("fixed_sizes", ()), step.integers("densities", ())
    if len(sizes) != len(densities):
        step.malformed(f"{len(sizes)} sizes and {len(densities)} densities")
    shifts: list[tuple[float, float, float, float]] = []  # of the centre, and half the sides
    for size, density in zip(sizes, densities, strict=True):
        if not 0 < density < 1000:
            step.malformed(f"the density {density}")
        shift = average // density
        for ratio in step.reals("fixed_ratios", (1.0,)):
            half_w, half_h = size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
            for row, column in itertools.product(range(density), range(density)):
                corner = -average / 2 + shift / 2
                shifts.append((corner + column * shift, corner + row * shift, half_w, half_h))
    step.check_table(height, width, len(shifts), 4)
    table = np.array(shifts).reshape(-1, 4)
    x = ((np.arange(width) + offset) * step_w)[None, :, None] + table[None, None, :, 0]
    y = ((np.arange(height) + offset) * step_h)[:, None, None] + table[None, None, :, 1]
    w, h = table[None, None, :, 2], table[None, None, :, 3]
    corners = np.broadcast_arrays(
        np.maximum((x - w) / wide, 0),
        np.maximum((y - h) / high, 0),
        np.minimum((x + w) / wide, 1),
        np.minimum((y + h) / high, 1),
    )
    boxes = np.stack(corners, axis=-1).astype(np.float32)
    return _with_variances(step, np.clip(boxes, 0, 1) if flag(step, "clip") else boxes)


@handler("anchor_generator")
def anchor_generator(step: Step) -> Outputs:
    height, width = _sides(step, one(step, "Input"))
    stride = step.reals("stride")
    if len(stride) != 2 or min(stride) <= 0:
        step.malformed(f"the strides {list(stride)}")
    offset = step.real("offset", 0.5)
    sides = []
    for ratio, size in itertools.product(step.reals("aspect_ratios"), step.reals("anchor_sizes")):
        base_w = np.round(np.sqrt(stride[0] * stride[1] / ratio))
        base_h = np.round(base_w * ratio)
        sides.append((size / stride[0] * base_w, size / stride[1] * base_h))
    step.check_table(height, width, len(sides), 4)
    across = np.arange(width) * stride[0] + offset * (stride[0] - 1)
    down = np.arange(height) * stride[1] + offset * (stride[1] - 1)
    halves = [((w - 1) / 2, (h - 1) / 2) for w, h in sides]
    return _with_variances(step, _around(across, down, halves, (1, 1, 1, 1)), ("Anchors", "Variances"))


# -- boxes from what a network says ------------------------------------------------------------------------------------
def _columns(step: Step, x: Tensor, count: int = 4) -> list[Tensor]:
    """The columns of the last axis, each with that axis."""
    if step.size(x, -1) != count:
        step.malformed(f"boxes of {x.shape[-1]} numbers")
    return list(step.emit_all("split", x, axis=x.rank - 1, sizes=(1,) * count))


def _times(step: Step, x: Tensor, number: float) -> Tensor:
    return step.emit("mul", x, scalar(step, number, x))


def _less(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("sub", a, b)


@handler("box_coder")
def box_coder(step: Step) -> Outputs:
    """Differences to prior boxes from boxes, or boxes from those."""
    prior, target = one(step, "PriorBox"), one(step, "TargetBox")
    whole = 0.0 if flag(step, "box_normalized", True) else 1.0
    left, top, right, bottom = _columns(step, prior)
    wide, high = (plus(step, _less(step, b, a), scalar(step, whole, a)) for a, b in ((left, right), (top, bottom)))
    middle_x, middle_y = plus(step, left, _times(step, wide, 0.5)), plus(step, top, _times(step, high, 0.5))
    kind = step.text("code_type", "encode_center_size").lower()
    if kind == "encode_center_size":
        variances = _variances(step, None)
        places = [step.transpose(item, (1, 0)) for item in (middle_x, middle_y, wide, high)]
        return {"OutputBox": _encoded(step, places, target, variances, whole)}
    if kind != "decode_center_size":
        step.malformed(f"the attribute 'code_type' is '{kind}'")
    axis = step.integer("axis", 0)
    if target.rank != 3 or axis not in (0, 1):
        step.malformed(f"boxes of rank {target.rank} along axis {axis}")
    shape = (1, prior.shape[0], 1) if axis == 0 else (prior.shape[0], 1, 1)
    places = [step.reshape(item, shape) for item in (middle_x, middle_y, wide, high)]
    return {"OutputBox": _decoded(step, places, target, _variances(step, shape), whole)}


def _variances(step: Step, shape: tuple[object, ...] | None) -> list[Tensor | None]:
    """One factor for each of the four numbers: of each prior box, or for all of them."""
    given = maybe(step, "PriorBoxVar")
    if given is not None:
        rows = 1 if given.rank == 1 else step.size(given, 0)
        columns = _columns(step, step.reshape(given, (rows, 4)))
        if shape is None or rows == 1:
            return [step.reshape(column, (rows,)) for column in columns]
        return [step.reshape(column, tuple(rows if dim != 1 else 1 for dim in shape)) for column in columns]
    stated = step.reals("variance", ())
    if not stated:
        return [None] * 4
    if len(stated) != 4:
        step.malformed(f"{len(stated)} variances instead of 4")
    return [step.constant(np.array(number, np.float32)) for number in stated]


def _decoded(
    step: Step, places: Sequence[Tensor], target: Tensor, variances: Sequence[Tensor | None], whole: float
) -> Tensor:
    middle_x, middle_y, wide, high = places
    deltas = [
        delta if variance is None else step.emit("mul", delta, variance)
        for delta, variance in zip(_columns(step, target), variances, strict=True)
    ]
    x = plus(step, step.emit("mul", deltas[0], wide), middle_x)
    y = plus(step, step.emit("mul", deltas[1], high), middle_y)
    w, h = (
        _times(step, step.emit("mul", step.emit("exp", d), s), 0.5) for d, s in ((deltas[2], wide), (deltas[3], high))
    )
    ends = [plus(step, centre, half) for centre, half in ((x, w), (y, h))]
    if whole:
        ends = [_less(step, end, scalar(step, whole, end)) for end in ends]
    return step.emit("concat", _less(step, x, w), _less(step, y, h), *ends, axis=2)


def _encoded(
    step: Step, places: Sequence[Tensor], target: Tensor, variances: Sequence[Tensor | None], whole: float
) -> Tensor:
    """[targets, priors, 4]."""
    middle_x, middle_y, wide, high = places
    left, top, right, bottom = _columns(step, target)
    w, h = (plus(step, _less(step, b, a), scalar(step, whole, a)) for a, b in ((left, right), (top, bottom)))
    x, y = (_times(step, plus(step, a, b), 0.5) for a, b in ((left, right), (top, bottom)))
    parts = [
        step.emit("div", _less(step, x, middle_x), wide),
        step.emit("div", _less(step, y, middle_y), high),
        step.emit("log", step.emit("abs", step.emit("div", w, wide))),
        step.emit("log", step.emit("abs", step.emit("div", h, high))),
    ]
    scaled = [
        one_ if variance is None else step.emit("div", one_, variance)
        for one_, variance in zip(parts, variances, strict=True)
    ]
    return step.emit("concat", *(step.reshape(item, (*item.shape, 1)) for item in scaled), axis=2)


@handler("box_clip")
def box_clip(step: Step) -> Outputs:
    """Boxes of one picture, whose height, width and scale are an input."""
    boxes, info = one(step, "Input"), one(step, "ImInfo")
    if step.size(info, 0) != 1:
        step.unsupported("boxes of several images", "import the model with a batch of one")
    height, width, scale = (step.reshape(item, ()) for item in _columns(step, info, 3))
    limits = [
        _less(step, step.emit("round", step.emit("div", side, scale)), scalar(step, 1, side))
        for side in (width, height)
    ]
    zero = scalar(step, 0, boxes)
    parts = [
        step.emit("maximum", step.emit("minimum", column, limits[index % 2]), zero)
        for index, column in enumerate(_columns(step, boxes))
    ]
    return {"Output": step.emit("concat", *parts, axis=boxes.rank - 1)}


@handler("iou_similarity")
def overlap(step: Step) -> Tensor:
    """[boxes of X, boxes of Y]: the area in common over the area of both."""
    whole = 0.0 if flag(step, "box_normalized", True) else 1.0
    x = _columns(step, one(step, "X"))
    y = [step.transpose(item, (1, 0)) for item in _columns(step, one(step, "Y"))]

    def side(low: Tensor, high: Tensor) -> Tensor:
        length = _less(step, high, low)
        return plus(step, length, scalar(step, whole, length)) if whole else length

    areas = [step.emit("mul", side(one_[0], one_[2]), side(one_[1], one_[3])) for one_ in (x, y)]
    sides = [
        step.emit("relu", side(step.emit("maximum", x[a], y[a]), step.emit("minimum", x[a + 2], y[a + 2])))
        for a in (0, 1)
    ]
    common = step.emit("mul", *sides)
    return step.emit("div", common, _less(step, plus(step, *areas), common))


@handler("yolo_box")
def yolo_box(step: Step) -> Outputs:
    """Per place and anchor: x, y, width, height, whether there is something, and of which kind."""
    x, sizes = one(step, "X"), one(step, "ImgSize")
    height, width = _sides(step, x)
    anchors, kinds, ratio = step.integers("anchors"), step.integer("class_num"), step.integer("downsample_ratio")
    count, batch = len(anchors) // 2, x.shape[0]
    if flag(step, "iou_aware"):
        step.unsupported("boxes that know their overlap", "export the model without iou_aware")
    if not count or len(anchors) % 2 or min(kinds, ratio) < 1 or x.shape[1] != count * (5 + kinds):
        step.malformed(f"{len(anchors)} numbers of anchors and {kinds} kinds for {x.shape[1]} channels")
    step.check_table(height, width, count)
    grid = step.transpose(step.reshape(x, (batch, count, 5 + kinds, height, width)), (0, 1, 3, 4, 2))
    scale = step.real("scale_x_y", 1.0)
    shown = step.emit("cast", sizes, to=x.dtype)
    high, wide = (step.reshape(part(step, shown, 1, axis, 1), (batch, 1, 1, 1, 1)) for axis in (0, 1))
    columns = np.arange(width, dtype=np.float32).reshape(1, 1, 1, width, 1)
    rows = np.arange(height, dtype=np.float32).reshape(1, 1, height, 1, 1)
    pairs = np.array(anchors, np.float32).reshape(1, count, 1, 1, 2)
    middles, halves = [], []
    for axis, (places, cells, side) in enumerate(((columns, width, wide), (rows, height, high))):
        raw = step.emit("sigmoid", part(step, grid, 4, axis, 1))
        place = plus(step, _times(step, raw, scale), step.constant(places - np.float32((scale - 1) / 2)))
        middles.append(step.emit("mul", _times(step, place, 1 / cells), side))
        share = pairs[..., axis : axis + 1] / np.float32(2 * ratio * cells)
        grown = step.emit("mul", step.emit("exp", part(step, grid, 4, 2 + axis, 1)), step.constant(share))
        halves.append(step.emit("mul", grown, side))
    sure = step.emit("sigmoid", part(step, grid, 4, 4, 1))
    is_there = step.emit("less_equal", scalar(step, step.real("conf_thresh"), sure), sure)
    corners = _corners(step, middles, halves, (wide, high))
    nothing = scalar(step, 0, x)
    boxes = step.emit("where", is_there, step.emit("concat", *corners, axis=4), nothing)
    scores = step.emit("mul", step.emit("sigmoid", part(step, grid, 4, 5, kinds)), sure)
    total = count * height * width
    return {
        "Boxes": step.reshape(boxes, (batch, total, 4)),
        "Scores": step.reshape(step.emit("where", is_there, scores, nothing), (batch, total, kinds)),
    }


def _corners(step: Step, middles: Sequence[Tensor], halves: Sequence[Tensor], sides: Sequence[Tensor]) -> list[Tensor]:
    low = [_less(step, middle, half) for middle, half in zip(middles, halves, strict=True)]
    high = [plus(step, middle, half) for middle, half in zip(middles, halves, strict=True)]
    if flag(step, "clip_bbox", True):
        low = [step.emit("relu", item) for item in low]
        high = [
            step.emit("minimum", item, _less(step, side, scalar(step, 1, side)))
            for item, side in zip(high, sides, strict=True)
        ]
    return [*low, *high]


# -- suppression -------------------------------------------------------------------------------------------------------
@handler("multiclass_nms", "multiclass_nms2", "multiclass_nms3")
def multiclass_nms(step: Step) -> Outputs:
    """Per kind the best boxes that do not overlap, of those the best of all kinds: rows (kind, score, box).

    The rows of one picture stand by kind, and within a kind by falling score.
    """
    boxes, scores = one(step, "BBoxes"), one(step, "Scores")
    _check_nms(step, boxes, scores)
    kinds = scores.shape[1]
    assert isinstance(kinds, int)
    step.check_table(kinds)
    background = step.integer("background_label", 0)
    kept = [kind for kind in range(kinds) if kind != background]
    shown = scores
    if len(kept) < kinds:
        shown = step.emit("gather", scores, step.constant(np.array(kept, np.int32)), axis=1)
    most = step.integer("nms_top_k", -1)
    count = boxes.shape[1]
    numbers = [int(dim) for dim in (count,) if isinstance(dim, int)]
    if most >= 0 and not (numbers and most >= numbers[0]):
        shown = _best_of_each_kind(step, shown, most)
    limit = numbers[0] if numbers else 2**31 - 1
    (found,) = step.emit_sized(
        "non_max_suppression",
        product((len(kept), minimum(count, limit))),
        boxes,
        shown,
        center_point_box=False,
        max_per_class=limit,
        iou_threshold=step.real("nms_threshold", 0.3),
        score_threshold=step.real("score_threshold", 0.0),
    )
    return _rows(step, found, boxes, shown, kept)


def _check_nms(step: Step, boxes: Tensor, scores: Tensor) -> None:
    if boxes.rank != 3 or scores.rank != 3 or boxes.shape[0] != 1:
        step.unsupported("suppression for several images, or with lengths", "import the model with a batch of one")
    if boxes.shape[2] != 4 or not isinstance(scores.shape[1], int):
        step.unsupported(f"boxes of {boxes.shape[2]} numbers and {scores.shape[1]} kinds", "fix the input shapes")
    if not flag(step, "normalized", True) or step.real("nms_eta", 1.0) < 1.0:
        step.unsupported(
            "boxes in whole pixels, or a threshold that falls", "set normalized and nms_eta=1 when exporting"
        )


def _best_of_each_kind(step: Step, scores: Tensor, most: int) -> Tensor:
    """All others get a score that is below every threshold."""
    count = minimum(scores.shape[2], most)
    best, places = step.emit_all("topk", scores, axis=2, k=(count,), largest=True)
    nothing = step.emit("broadcast_to", scalar(step, -np.inf, scores), shape=scores.shape)
    return step.emit("scatter_elements", nothing, places, best, axis=2, reduction="none")


def _rows(step: Step, found: Tensor, boxes: Tensor, scores: Tensor, kinds: Sequence[int]) -> Outputs:
    """`found` has a row (0, kind, box) for each box that is left."""
    size = found.shape[0]
    values = step.emit("gather_nd", scores, found, batch_dims=0)
    keep = step.integer("keep_top_k", -1)
    most = minimum(size, keep) if keep >= 0 else size
    if most != size:
        _, best = step.emit_all("topk", values, axis=0, k=(most,), largest=True)
        order, _ = step.emit_all("topk", best, axis=0, k=(most,), largest=False)  # back into the order by kind
        found, values = (step.emit("gather", item, order, axis=0) for item in (found, values))
    count = found.shape[0]
    kind, box = (step.reshape(part(step, found, 1, axis, 1), (count,)) for axis in (1, 2))
    labels = step.emit("gather", step.constant(np.array(kinds, np.float32)), kind, axis=0)
    corners = step.emit("gather", step.reshape(boxes, (boxes.shape[1], 4)), box, axis=0)
    columns = [step.reshape(item, (count, 1)) for item in (labels, values)]
    rows = step.emit("concat", *columns, corners, axis=1)
    ones = as_type(step, step.emit("equal", box, box), DType.S32)
    return {
        "Out": rows,
        "Index": step.reshape(as_type(step, box, DType.S32), (count, 1)),
        "NmsRoisNum": step.emit("reduce_sum", ones, axes=(0,), keepdims=True),
    }
