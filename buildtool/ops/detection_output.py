"""detection_output: the objects that a single-shot detector has found, from codes of boxes, scores and prior boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator, most_of
from buildtool.ops._shapes import equal_dim, number, require_one_of, require_rank

CODES = ("corner", "center_size", "corner_size")


@dataclass(frozen=True, kw_only=True)
class DetectionOutput(DataSizedOperator):
    """Inputs codes[N,P*4] (or [N,P*C*4], boxes for each class), scores[N,P*C], priors[1,2,P*4]; output [1,1,size,7].

    All are f32. The priors are P boxes (left, top, right, bottom) and, behind them, a variance for each number of a
    code. `corner` codes are added to the prior; those of `corner_size` are multiplied by its sides before;
    `center_size` moves the centre by multiples of the sides, and multiplies the sides by powers of e. Codes are
    multiplied by the variances, unless `variances_in_codes`.

    Of each class but `background` the `most_per_class` best boxes (-1: all) above `score_threshold` are tried by
    falling score (of equal ones the first). One is taken unless the part that it has in common with one taken before
    is more than `iou_threshold` of both together. Of all classes of a picture the best `most_per_picture` remain
    (-1: all). A row is picture, class, score and box; they are sorted by picture, class, falling score.

    `code` is corner, center_size or corner_size; `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "detection_output"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    code: str
    variances_in_codes: bool
    background: int
    score_threshold: float
    iou_threshold: float
    most_per_class: int
    most_per_picture: int

    def check(self) -> None:
        super().check()
        require_one_of("code", self.code, CODES)
        for name, value in (("most_per_class", self.most_per_class), ("most_per_picture", self.most_per_picture)):
            if value < 1 and value != -1:
                raise OperatorError(f"'{name}' is {value}, which is neither positive nor -1")
        if not np.isfinite(self.score_threshold):
            raise OperatorError("'score_threshold' is finite")
        if not 0 <= self.iou_threshold <= 1:
            raise OperatorError(f"'iou_threshold' is {self.iou_threshold}, which is outside 0..1")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        codes, scores, priors = self.operands(inputs)
        for type_, rank, what in ((codes, 2, "the codes"), (scores, 2, "the scores"), (priors, 3, "the priors")):
            require_rank(type_, rank, what)
            if type_.dtype is not DType.F32:
                raise OperatorError(f"{what} are f32, not {type_.dtype.value}")
        numbers = number(priors.shape[2], "the length of the priors")
        equal_dim(priors.shape[0], 1, "the first size of the priors and 1")
        equal_dim(priors.shape[1], 2, "the second size of the priors and 2")
        if numbers % 4 or not numbers:
            raise OperatorError(f"the priors have {numbers} elements, which is not a positive multiple of 4")
        count, scored = numbers // 4, number(scores.shape[1], "the length of the scores")
        if scored % count or not scored:
            raise OperatorError(f"{scored} scores cannot be divided among {count} priors")
        if scored == count and self.background == 0:
            raise OperatorError("there is no class except the background")
        coded = number(codes.shape[1], "the length of the codes")
        if coded not in (numbers, scored * 4):
            raise OperatorError(f"there are {coded} codes for {count} priors and {scored // count} classes")
        equal_dim(codes.shape[0], scores.shape[0], "the batches of images")
        most = self._most_of_picture(count, scored // count) * most_of(scores.shape[:1])
        return (TensorType(DType.F32, (1, 1, self.sized(most), 7)),)

    def _most_of_picture(self, priors: int, classes: int) -> int:
        each = priors if self.most_per_class < 0 else min(priors, self.most_per_class)
        return each * classes if self.most_per_picture < 0 else min(each * classes, self.most_per_picture)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        codes, scores, priors = inputs
        count = priors.shape[2] // 4
        scores = scores.reshape(len(scores), count, -1)
        codes = codes.reshape(len(codes), count, -1, 4)
        rows: list[tuple[float, ...]] = []
        with np.errstate(all="ignore"):
            for picture in range(len(scores)):
                boxes = self._boxes(codes[picture], *priors.reshape(2, count, 1, 4))
                found = [
                    (float(picture), float(kind), float(scores[picture, place, kind]), *map(float, own[place]))
                    for kind in range(scores.shape[2])
                    if kind != self.background
                    for own in (boxes[:, kind if boxes.shape[1] > 1 else 0],)
                    for place in self._taken(own, scores[picture, :, kind])
                ]
                rows += self._best(found)
        return (np.array(rows, np.float32).reshape(1, 1, -1, 7),)

    def _boxes(self, codes: Array, priors: Array, variances: Array) -> Array:
        moves = codes if self.variances_in_codes else codes * variances
        low, high = priors[..., :2], priors[..., 2:]
        sides = high - low
        if self.code == "corner":
            return np.asarray(priors + moves)
        if self.code == "corner_size":
            return np.asarray(priors + np.concatenate([sides, sides], axis=-1) * moves)
        center = moves[..., :2] * sides + (low + high) / np.float32(2)
        half = np.exp(moves[..., 2:]) * sides / np.float32(2)
        return np.concatenate([center - half, center + half], axis=-1)

    def _taken(self, boxes: Array, scores: Array) -> list[int]:
        candidates = np.flatnonzero(scores > np.float32(self.score_threshold))
        order = candidates[np.argsort(-scores[candidates], kind="stable")]
        taken: list[int] = []
        for place in order if self.most_per_class < 0 else order[: self.most_per_class]:
            if np.all(_overlaps(boxes[place], boxes[taken]) <= np.float32(self.iou_threshold)):
                taken.append(int(place))
        return taken

    def _best(self, found: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        if self.most_per_picture < 0 or len(found) <= self.most_per_picture:
            return found
        order = np.argsort([-row[2] for row in found], kind="stable")[: self.most_per_picture]
        return [found[place] for place in sorted(order)]


def _overlaps(box: Array, others: Array) -> Array:
    """What a box has in common with each of the others, as a part of both together."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = sides[:, 0] * sides[:, 1]
    together = _area(box[None]) + _area(others) - common
    return np.asarray(np.where(np.all(sides > 0, axis=1), common / together, np.float32(0)))


def _area(boxes: Array) -> Array:
    sides = boxes[:, 2:] - boxes[:, :2]
    return np.asarray(np.where(np.any(sides < 0, axis=1), np.float32(0), sides[:, 0] * sides[:, 1]))
