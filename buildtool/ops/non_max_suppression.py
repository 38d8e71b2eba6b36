"""non_max_suppression: of boxes that overlap, the ones with the best scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._data_sizes import DataSizedOperator, most_of
from buildtool.ops._shapes import equal_dim, number, require_rank


@dataclass(frozen=True, kw_only=True)
class NonMaxSuppression(DataSizedOperator):
    """Inputs boxes[N,B,4], scores[N,C,B] (f32); output [size, 3] (s64): batch, class and box, for each one selected.

    A box is two opposite corners (y, x, y, x), or centre and sides (x, y, width, height) if `center_point_box`. Per
    batch and class, the boxes above `score_threshold` are taken by falling score (of equal ones the first), each unless
    its intersection with one taken before is more than `iou_threshold` of their union; at most `max_per_class`.

    `size` is the one dimension that only the data decides.
    """

    name: ClassVar[str] = "non_max_suppression"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    center_point_box: bool
    max_per_class: int
    iou_threshold: float
    score_threshold: float

    def check(self) -> None:
        super().check()
        if self.max_per_class < 0:
            raise OperatorError(f"'max_per_class' is {self.max_per_class}, which is below 0")
        if not 0 <= self.iou_threshold <= 1:
            raise OperatorError(f"'iou_threshold' is {self.iou_threshold}, which is outside 0..1")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        boxes, scores = self.operands(inputs)
        for type_, what in ((boxes, "the tensor of boxes"), (scores, "the tensor of scores")):
            require_rank(type_, 3, what)
            if type_.dtype is not DType.F32:
                raise OperatorError(f"boxes and scores are f32, not {type_.dtype.value}")
        if number(boxes.shape[2], "the length of a box") != 4:
            raise OperatorError(f"a box has 4 numbers, not {boxes.shape[2]}")
        equal_dim(boxes.shape[0], scores.shape[0], "the batches of boxes and scores")
        count = equal_dim(boxes.shape[1], scores.shape[2], "the number of boxes")
        most = most_of(scores.shape[:2]) * min(bounds(count)[1], self.max_per_class)
        return (TensorType(DType.S64, (self.sized(most), 3)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        boxes, scores = inputs
        selected = [
            (batch, kind, box)
            for batch in range(scores.shape[0])
            for kind in range(scores.shape[1])
            for box in self._selected(self._corners(boxes[batch]), scores[batch, kind])
        ]
        return (np.array(selected, np.int64).reshape(-1, 3),)

    def _corners(self, boxes: Array) -> Array:
        """The lower and the upper corner of every box."""
        if self.center_point_box:
            half = boxes[:, 2:] / np.float32(2)
            return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
        first, second = boxes[:, :2], boxes[:, 2:]
        return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)

    def _selected(self, corners: Array, scores: Array) -> list[int]:
        candidates = np.flatnonzero(scores > np.float32(self.score_threshold))
        taken: list[int] = []
        for box in candidates[np.argsort(-scores[candidates], kind="stable")]:
            if len(taken) == self.max_per_class:
                break
            if not self._overlaps(corners[box], corners[taken]):
                taken.append(int(box))
        return taken

    def _overlaps(self, box: Array, others: Array) -> bool:
        """Whether the box overlaps one of the others too much. Areas and sides are those of 32-bit floats."""
        zero = np.float32(0)
        sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
        common = np.maximum(sides[:, 0], zero) * np.maximum(sides[:, 1], zero)
        area, areas = (box[2] - box[0]) * (box[3] - box[1]), np.prod(others[:, 2:] - others[:, :2], axis=1)
        union = area + areas - common
        counts = (area > 0) & (areas > 0) & (union > 0)
        return bool(np.any(counts & (common > np.float32(self.iou_threshold) * union)))
