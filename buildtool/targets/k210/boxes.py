"""Boxes in the output of a YOLO v2: what `lathe_kpu_boxes` of the interpreter computes, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.ir.operator import Array

_BEFORE_CLASSES = 5  # x, y, width, height, objectness


@dataclass(frozen=True)
class Regions:
    """How the planes of an output are read."""

    rows: int
    columns: int
    classes: int
    sizes: tuple[tuple[float, float], ...]  # width and height of each anchor, in cells
    threshold: float = 0.5
    overlap: float = 0.3


@dataclass(frozen=True)
class Box:
    """Edges are shares of the picture, from 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float
    probability: float
    label: int


def regions(settings: Mapping[str, Any], shape: Sequence[int], model: str) -> Regions | None:
    """What a deployment says of an output with that shape; None where it names no anchors."""
    sides = settings.get("anchors")
    if not sides:
        return None
    where, rule = Where(model=model), "`anchors`: width and height of each; of each, 5 planes and one per class"
    if len(sides) % 2:
        raise ConfigError(f"`anchors` has {len(sides)} numbers", where=where, rule=rule)
    count = len(sides) // 2
    if len(shape) != 3 or shape[0] % count or shape[0] // count <= _BEFORE_CLASSES:
        told = " x ".join(map(str, shape))
        raise ConfigError(
            f"an output of {told} is none of a YOLO v2 with {count} anchor{'s' if count > 1 else ''}",
            where=where,
            rule=rule,
            remedy="correct `anchors`, or remove it",
        )
    channels, rows, columns = shape
    sizes = tuple(zip(sides[::2], sides[1::2], strict=True))
    options = {"threshold": settings.get("box_threshold"), "overlap": settings.get("box_overlap")}
    given = {name: float(value) for name, value in options.items() if value is not None}
    return Regions(rows, columns, channels // count - _BEFORE_CLASSES, sizes, **given)


def boxes(read: Regions, output: Array) -> list[Box]:
    """The boxes, the most probable one first. `output`: channels, rows, columns."""
    planes = np.asarray(output, np.float64).reshape(len(read.sizes), -1, read.rows, read.columns)
    x, y, width, height = planes[:, 0], planes[:, 1], planes[:, 2], planes[:, 3]
    sizes = np.array(read.sizes)[:, :, None, None]
    with np.errstate(over="ignore", invalid="ignore"):
        x = (np.arange(read.columns) + _sigmoid(x)) / read.columns
        y = (np.arange(read.rows)[:, None] + _sigmoid(y)) / read.rows
        width, height = np.exp(width) * sizes[:, 0] / read.columns, np.exp(height) * sizes[:, 1] / read.rows
        classes = planes[:, _BEFORE_CLASSES:]
        of_classes = np.exp(classes - classes.max(axis=1, keepdims=True))
        probability = _sigmoid(planes[:, 4]) / of_classes.sum(axis=1)
    found = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2, probability, classes.argmax(1)])
    rows = found.reshape(6, -1).T
    rows = rows[rows[:, 4] > read.threshold]
    rows = rows[np.argsort(-rows[:, 4], kind="stable")]
    kept: list[Any] = []
    for row in rows:
        if not any(other[5] == row[5] and _overlap(other, row) > read.overlap for other in kept):
            kept.append(row)
    return [box_of(row) for row in kept]


def box_of(row: Sequence[float]) -> Box:
    """Of its edges, which may lie outside of the picture, its probability and its label."""
    left, top, right, bottom = (min(max(float(edge), 0.0), 1.0) for edge in row[:4])
    return Box(left, top, right, bottom, float(row[4]), int(row[5]))


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)))


def _overlap(one: Array, other: Array) -> float:
    """Intersection over union."""
    sides = np.minimum(one[2:4], other[2:4]) - np.maximum(one[:2], other[:2])
    both = float(np.prod(np.maximum(sides, 0)))
    either = float(np.prod(one[2:4] - one[:2]) + np.prod(other[2:4] - other[:2])) - both
    return both / either if either > 0 else 0.0
