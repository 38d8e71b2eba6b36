"""Boxes whose scores fall where they overlap better ones (Soft-NMS with a Gaussian): a loop over the best of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import bounds, minimum
from buildtool.ir.graph import Region
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType


@dataclass(frozen=True)
class SoftLimits:
    """Scores are multiplied with exp(-overlap^2 / (2 * sigma)) and have to stay above `least`.

    A box whose overlap with one taken before is above `overlap` is not taken at all; None: there is no such limit.
    """

    most: int
    least: float
    sigma: float
    overlap: float | None = None


def softly_apart(step: Step, boxes: Tensor, scores: Tensor, limits: SoftLimits) -> tuple[Tensor, Tensor]:
    """Of boxes[N, 4] with scores[N] the places (s32) and the fallen scores of those taken: as many as the data says."""
    count = scores.shape[0]
    rounds = bounds(minimum(count, limits.most))[1]
    step.check_table(rounds)
    corners = Corners.of(step, boxes)
    region = Region()
    start = _alive(step, scores, limits, None)
    first = _any_left(step, start)
    step.taken(region, TensorType(DType.S64, ()))
    left = step.taken(region, start.type)
    with step.inside(region):
        place = step.emit("argmax", left, axis=0, keepdims=False, select_last_index=False)
        score = step.emit("reduce_max", left, axes=(0,), keepdims=False)
        overlap = corners.overlaps(step, place)
        share = step.emit("mul", step.emit("mul", overlap, overlap), _number(step, -0.5 / limits.sigma))
        fallen = step.emit("mul", left, step.emit("exp", share))
        others = step.emit("logical_not", step.emit("equal", corners.numbers, place))
        if limits.overlap is not None:
            too_much = step.emit("less", _number(step, limits.overlap), overlap)
            others = step.emit("logical_and", others, step.emit("logical_not", too_much))
        after = _alive(step, fallen, limits, others)
        goes_on = _any_left(step, after)
    step.give(region, [goes_on, after, place, score])
    trips = step.constant(np.array(rounds, np.int64))
    size = step.data_size("loop", rounds)
    _, places, best = step.emit_regions("loop", [trips, first, start], [region], most=(rounds,), size=(size,))
    return step.emit("cast", places, to=DType.S32), best


def _alive(step: Step, scores: Tensor, limits: SoftLimits, others: Tensor | None) -> Tensor:
    """Scores that are high enough, of these boxes; elsewhere less than any number."""
    fits = step.emit("less", _number(step, limits.least), scores)
    fits = fits if others is None else step.emit("logical_and", fits, others)
    return step.emit("where", fits, scores, _number(step, -np.inf))


def _any_left(step: Step, scores: Tensor) -> Tensor:
    return step.emit("less", _number(step, -np.inf), step.emit("reduce_max", scores, axes=(0,), keepdims=False))


@dataclass(frozen=True)
class Corners:
    """All boxes: their lower and upper corners [2, N], areas [N], and numbers [N] (s64)."""

    low: Tensor
    high: Tensor
    areas: Tensor
    numbers: Tensor

    @classmethod
    def of(cls, step: Step, boxes: Tensor) -> Corners:
        count = boxes.shape[0]
        columns = step.transpose(boxes, (1, 0))
        first, second = (step.emit("slice", columns, starts=(at, 0), steps=(1, 1), sizes=(2, count)) for at in (0, 2))
        low, high = step.emit("minimum", first, second), step.emit("maximum", first, second)
        areas = step.emit("reduce_prod", step.emit("sub", high, low), axes=(0,), keepdims=False)
        ones = step.emit("broadcast_to", step.constant(np.ones((), np.int64)), shape=(count,))
        return cls(low, high, areas, step.emit("cumsum", ones, axis=0, exclusive=True, reverse=False))

    def overlaps(self, step: Step, place: Tensor) -> Tensor:
        """The intersection of one box with each over their union; 0 where one has no area."""
        low, high = (step.reshape(step.emit("gather", x, place, axis=1), (2, 1)) for x in (self.low, self.high))
        area = step.emit("gather", self.areas, place, axis=0)
        sides = step.emit("sub", step.emit("minimum", self.high, high), step.emit("maximum", self.low, low))
        common = step.emit("reduce_prod", step.emit("relu", sides), axes=(0,), keepdims=False)
        both = step.emit("add", area, self.areas, **NO_ACTIVATION)
        share = step.emit("div", common, step.emit("sub", both, common))
        nothing = _number(step, 0.0)
        smaller = step.emit("minimum", area, self.areas)
        return step.emit("where", step.emit("less", nothing, smaller), share, nothing)


def _number(step: Step, value: float) -> Tensor:
    array: Array = np.array(value, np.float32)
    return step.constant(array)
