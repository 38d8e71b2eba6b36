"""Clip: bounds as attributes (opset 7 to 10) or as inputs (from 11)."""

from __future__ import annotations

import math

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step


@handler("Clip")
def clip(step: Step) -> Tensor:
    x, low, high = step.input(0), step.optional(1), step.optional(2)
    if step.opset < 11:
        return _limited(step, x, step.real("min", -math.inf), step.real("max", math.inf))
    if x.dtype.is_float and all(bound is None or bound.content is not None for bound in (low, high)):
        least = step.known_number(1, "min") if low is not None else -math.inf
        most = step.known_number(2, "max") if high is not None else math.inf
        return _limited(step, x, least, most)
    if low is not None:
        x = step.emit("maximum", x, low)
    if high is not None:
        x = step.emit("minimum", x, high)
    return x


def _limited(step: Step, x: Tensor, low: float, high: float) -> Tensor:
    # Exporters write the largest float where they mean no bound.
    low = -math.inf if low <= -3.4e38 else low
    high = math.inf if high >= 3.4e38 else high
    if (low, high) == (0.0, math.inf):
        return step.emit("relu", x)
    # Where the bounds are crossed, ONNX says that everything becomes the upper one.
    return step.emit("clip", x, low=min(low, high), high=high)
