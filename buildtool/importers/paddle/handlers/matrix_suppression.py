"""matrix_nms: scores that fall by how far better boxes of the same kind overlap, all of them at once."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, one
from buildtool.importers.paddle.values import as_type, flag, part, scalar
from buildtool.importers.soft_suppression import Corners
from buildtool.importers.step import Step
from buildtool.ir.dims import bounds, minimum, product
from buildtool.ir.graph import Region
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType

_ENDLESS = np.iinfo(np.int64).max


@handler("matrix_nms")
def matrix_nms(step: Step) -> Outputs:
    """Rows (kind, score, box) of all kinds by falling score. Paddle leaves open which of equal scores comes first."""
    boxes, scores = one(step, "BBoxes"), one(step, "Scores")
    kinds, count = _checked(step, boxes, scores)
    background = step.integer("background_label", 0)
    kept = [kind for kind in range(kinds) if kind != background]
    table = step.reshape(boxes, boxes.shape[1:])
    shown = step.emit("gather", scores, step.constant(np.array(kept, np.int64)), axis=1)
    fallen = _fallen(step, table, step.reshape(shown, (len(kept), count)))
    above = step.emit("less", scalar(step, step.real("post_threshold", 0.0), scores), fallen)
    every = product((len(kept), count))
    (found,) = step.emit_sized("non_zero", every, above)
    found = step.transpose(found, (1, 0))
    values = step.emit("gather_nd", fallen, found, batch_dims=0)
    size, keep = found.shape[0], step.integer("keep_top_k", -1)
    values, order = step.emit_all("topk", values, axis=0, k=(minimum(size, keep) if keep >= 0 else size,), largest=True)
    found, rows = step.emit("gather", found, order, axis=0), values.shape[0]
    kind, box = (step.reshape(part(step, found, 1, axis, 1), (rows,)) for axis in (0, 1))
    labels = step.emit("gather", step.constant(np.array(kept, np.float32)), kind, axis=0)
    columns = [step.reshape(item, (rows, 1)) for item in (labels, values)]
    ones = as_type(step, step.emit("equal", box, box), DType.S32)
    return {
        "Out": step.emit("concat", *columns, step.emit("gather", table, box, axis=0), axis=1),
        "Index": step.reshape(as_type(step, box, DType.S32), (rows, 1)),
        "RoisNum": step.emit("reduce_sum", ones, axes=(0,), keepdims=True),
    }


def _checked(step: Step, boxes: Tensor, scores: Tensor) -> tuple[int, int]:
    if boxes.rank != 3 or scores.rank != 3 or boxes.shape[0] != 1 or boxes.shape[2] != 4:
        step.unsupported(f"suppression among {boxes.type} and {scores.type}", "import the model with a batch of one")
    kinds, count = scores.shape[1:]
    if not isinstance(kinds, int) or not isinstance(count, int) or boxes.shape[1] != count:
        step.unsupported(f"{boxes.shape[1]} boxes with {count} scores of {kinds} kinds", "fix the input shapes")
    if not flag(step, "normalized", True):
        step.unsupported("boxes in whole pixels", "set normalized when exporting")
    step.check_table(kinds, count)
    return kinds, count


def _fallen(step: Step, boxes: Tensor, scores: Tensor) -> Tensor:
    """The scores [kinds, boxes] after the fall; what takes no part is below every threshold."""
    corners = Corners.of(step, boxes)
    nothing = scalar(step, -np.inf, scores)
    is_high = step.emit("less", scalar(step, step.real("score_threshold"), scores), scores)
    starts = step.emit("where", is_high, scores, nothing)
    region = Region()
    number = step.taken(region, TensorType(DType.S64, ()))
    with step.inside(region):
        result = _of_one_kind(step, corners, step.emit("gather", starts, number, axis=0))
    step.give(region, [step.constant(np.array(True)), result])
    trips = step.constant(np.array(scores.shape[0], np.int64))
    (table,) = step.emit_regions(
        "loop", [trips, step.constant(np.array(True))], [region], most=scores.shape[:1], size=()
    )
    return table


def _of_one_kind(step: Step, corners: Corners, scores: Tensor) -> Tensor:
    """One box after the other, by falling score; `furthest`: how far each overlaps those before it."""
    count = bounds(scores.shape[0])[1]
    most = step.integer("nms_top_k", -1)
    floats = TensorType(scores.dtype, scores.shape)
    zeros, none = (step.constant(_full(count, number)) for number in (0.0, -np.inf))
    region = Region()
    step.taken(region, TensorType(DType.S64, ()))
    left, furthest, results = (step.taken(region, floats) for _ in range(3))
    with step.inside(region):
        place = step.emit("argmax", left, axis=0, keepdims=False, select_last_index=False)
        score = step.emit("reduce_max", left, axes=(0,), keepdims=False)
        here = step.emit("equal", corners.numbers, place)
        before = step.emit("less", _number(step, -np.inf), results)
        share = step.emit("where", before, corners.overlaps(step, place), _number(step, 0.0))
        decay = _decay(step, share, furthest)
        falls = step.emit("logical_and", before, step.emit("less", decay, _number(step, 1.0)))
        least = step.emit("where", falls, decay, _number(step, 1.0))
        value = step.emit("mul", score, step.emit("reduce_min", least, axes=(0,), keepdims=False))
        far = step.emit("reduce_max", share, axes=(0,), keepdims=False)
        after = [
            step.emit("where", here, new, old)
            for new, old in ((_number(step, -np.inf), left), (far, furthest), (value, results))
        ]
        goes_on = _any(step, after[0])
    step.give(region, [goes_on, *after])
    trips = step.constant(np.array(most if most >= 0 else _ENDLESS, np.int64))
    operands = [trips, _any(step, scores), scores, zeros, none]
    return step.emit_regions("loop", operands, [region], most=(), size=())[2]


def _decay(step: Step, share: Tensor, furthest: Tensor) -> Tensor:
    """By how much each box before makes a score smaller."""
    if flag(step, "use_gaussian"):
        squares = [step.emit("mul", item, item) for item in (furthest, share)]
        power = step.emit("mul", step.emit("sub", *squares), _number(step, step.real("gaussian_sigma", 2.0)))
        return step.emit("exp", power)
    rests = [step.emit("sub", _number(step, 1.0), item) for item in (share, furthest)]
    return step.emit("div", *rests)


def _any(step: Step, scores: Tensor) -> Tensor:
    return step.emit("less", _number(step, -np.inf), step.emit("reduce_max", scores, axes=(0,), keepdims=False))


def _number(step: Step, number: float) -> Tensor:
    return step.constant(np.array(number, np.float32))


def _full(count: int, number: float) -> Array:
    return np.full(count, number, np.float32)
