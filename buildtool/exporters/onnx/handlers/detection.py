"""detection_output, which ONNX has no operator for: everything around its NonMaxSuppression."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@handler("detection_output")
def detection_output(step: Step) -> None:
    """A table of the candidates, class by class with falling score, in which those that remain are marked."""
    op, pictures = step.op, step.type(1).shape[0]
    priors = step.known_shape(2)[2] // 4
    scored = step.type(1).shape[1]
    assert isinstance(scored, int)
    kinds = scored // priors
    classes = [kind for kind in range(kinds) if kind != op.background]
    scores = step.reshaped(step.input(1), step.type(1).shape, (pictures, priors, kinds))
    scores = _picked(step, step.transposed(scores, (0, 2, 1)), classes, kinds)
    count = priors if op.most_per_class < 0 else min(op.most_per_class, priors)
    best, places = step.emit_many("TopK", 2, scores, step.integers([count]), axis=2)
    boxes = _boxes(step, pictures, priors, classes, kinds)
    whole = (pictures, len(classes), count, 4)
    spread = step.emit("Expand", step.emit("Unsqueeze", places, step.integers([3])), step.dims(whole))
    boxes = step.emit("GatherElements", boxes, spread, axis=2)
    table = _kept_scores(step, boxes, best, pictures, len(classes), count)
    marked = step.emit("Greater", table, _number(step, -np.inf))
    size = len(classes) * count
    if 0 <= op.most_per_picture < size:
        marked = step.emit("And", marked, _best(step, table, pictures, size))
    found = step.emit("NonZero", marked)
    boxes = step.reshaped(boxes, whole, (pictures, size, 4))
    _give_rows(step, found, table, boxes, classes, count)


def _picked(step: Step, x: str, classes: list[int], kinds: int) -> str:
    """Axis 1 without the background."""
    return x if len(classes) == kinds else step.emit("Gather", x, step.integers(classes), axis=1)


def _boxes(step: Step, pictures: Dim, priors: int, classes: list[int], kinds: int) -> str:
    """[N, C, P, 4], decoded."""
    op, coded = step.op, step.type(0).shape
    own = kinds if coded[1] != priors * 4 else 1
    codes = step.reshaped(step.input(0), coded, (pictures, priors, own, 4))
    both = step.reshaped(step.input(2), step.type(2).shape, (2, priors, 1, 4))
    prior, variance = (step.emit("Gather", both, step.number(row, DType.S64), axis=0) for row in (0, 1))
    moves = codes if op.variances_in_codes else step.emit("Mul", codes, variance)
    low, high = _halves(step, prior)
    sides = step.emit("Sub", high, low)
    first, second = _halves(step, moves)
    if op.code == "center_size":
        center = step.emit("Div", step.emit("Add", low, high), _number(step, 2))
        center = step.emit("Add", step.emit("Mul", first, sides), center)
        half = step.emit("Div", step.emit("Mul", step.emit("Exp", second), sides), _number(step, 2))
        low, high = step.emit("Sub", center, half), step.emit("Add", center, half)
    else:
        if op.code == "corner_size":
            first, second = step.emit("Mul", first, sides), step.emit("Mul", second, sides)
        low, high = step.emit("Add", low, first), step.emit("Add", high, second)
    boxes = step.transposed(step.emit("Concat", low, high, axis=3), (0, 2, 1, 3))
    if own > 1:
        return _picked(step, boxes, classes, kinds)
    return step.emit("Expand", boxes, step.dims((pictures, len(classes), priors, 4)))


def _halves(step: Step, x: str) -> list[str]:
    return step.emit_many("Split", 2, x, step.integers([2, 2]), axis=-1)


def _kept_scores(step: Step, boxes: str, best: str, pictures: Dim, classes: int, count: int) -> str:
    """[N, C * K]: the scores that are left; elsewhere less than any number."""
    rows, whole = pictures * classes, (pictures, classes, count)
    low, high = _halves(step, step.reshaped(boxes, (*whole, 4), (rows, count, 4)))
    # A box whose corners are the wrong way round has nothing in common with others; ONNX would turn them.
    proper = step.emit("Concat", low, step.emit("Max", low, high), axis=2)
    scores = step.reshaped(best, whole, (rows, 1, count))
    limits = [_number(step, number, 1) for number in (step.op.iou_threshold, step.op.score_threshold)]
    selected = step.emit("NonMaxSuppression", proper, scores, step.integers([count]), *limits)
    places = step.emit("Gather", selected, step.integers([0, 2]), axis=1)
    flat = step.reshaped(best, whole, (rows, count))
    nothing = step.emit("Expand", _number(step, -np.inf), step.dims((rows, count)))
    table = step.emit("ScatterND", nothing, places, step.emit("GatherND", flat, places))
    return step.reshaped(table, (rows, count), (pictures, classes * count))


def _best(step: Step, table: str, pictures: Dim, size: int) -> str:
    """Marks the largest elements of each row."""
    most = step.op.most_per_picture
    _, places = step.emit_many("TopK", 2, table, step.integers([most]), axis=1)
    zeros = step.emit("Expand", _number(step, 0), step.dims((pictures, size)))
    ones = step.emit("Expand", _number(step, 1), step.dims((pictures, most)))
    return step.emit("Greater", step.emit("ScatterElements", zeros, places, ones, axis=1), _number(step, 0))


def _give_rows(step: Step, found: str, table: str, boxes: str, classes: list[int], count: int) -> None:
    """Picture, class, score and box of every place that was found."""
    at = step.transposed(found, (1, 0))
    picture, place = (step.emit("Gather", found, step.integers([row]), axis=0) for row in (0, 1))
    names = step.writer.constant(np.array(classes, np.float32), DType.F32, "classes")
    kind = step.emit("Gather", names, step.emit("Div", place, step.integers([count])), axis=0)
    column = step.integers([-1, 1])
    columns = [
        step.emit("Reshape", step.cast(picture, DType.F32), column),
        step.emit("Reshape", kind, column),
        step.emit("Reshape", step.emit("GatherND", table, at), column),
        step.emit("GatherND", boxes, at),
    ]
    rows = step.emit("Concat", *columns, axis=1)
    step.give(step.emit("Reshape", rows, step.integers([1, 1, -1, 7])))


def _number(step: Step, number: float, rank: int = 0) -> str:
    return step.writer.constant(np.full((1,) * rank, number, np.float32), DType.F32, "number")
