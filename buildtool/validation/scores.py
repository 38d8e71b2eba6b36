"""Figures that scripts for accuracy need most: top-k, mean average precision, intersection over union.

Each has a part for one sample, which `postprocess` returns, and one for all of them, which `metrics` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.running.metrics import Array

#: Of COCO: the mean over these is its mAP.
COCO_OVERLAPS = tuple(np.arange(50, 100, 5) / 100)
_RECALLS = np.linspace(0, 1, 101)  # where COCO reads the curve of the precision


def in_top(scores: npt.ArrayLike, label: int, k: int = 1) -> bool:
    """Whether the label is among the k classes of the highest scores; of equal scores the first class counts more."""
    order = np.argsort(-np.asarray(scores, np.float64).ravel(), kind="stable")
    return label in order[:k]


def part(hits: Sequence[bool | float]) -> float:
    """The mean of what was kept of all samples."""
    return float(np.mean(np.asarray(hits, np.float64)))


def overlap(box: npt.ArrayLike, boxes: npt.ArrayLike) -> Array:
    """Intersection over union of one box with several, each x1, y1, x2, y2."""
    one, many = np.asarray(box, np.float64), np.asarray(boxes, np.float64).reshape(-1, 4)
    low, high = np.maximum(one[:2], many[:, :2]), np.minimum(one[2:], many[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(many[:, 2:] - many[:, :2], axis=1)
    union = np.prod(one[2:] - one[:2]) + areas - shared
    part_of: Array = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return part_of


def detections(found: npt.ArrayLike, true: npt.ArrayLike) -> dict[str, Any]:
    """What to keep of a picture. `found`: rows of class, score, x1, y1, x2, y2; `true`: of class, x1, y1, x2, y2."""
    return {"found": np.asarray(found).reshape(-1, 6).tolist(), "true": np.asarray(true).reshape(-1, 5).tolist()}


def mean_average_precision(pictures: Sequence[dict[str, Any]], overlaps: Sequence[float] = COCO_OVERLAPS) -> float:
    """The mean over classes and overlaps of the precision at 101 recalls, as COCO defines it; PASCAL's: (0.5,)."""
    classes = sorted({int(row[0]) for picture in pictures for row in picture["true"]})
    figures = [_average_precision(pictures, one, least) for one in classes for least in overlaps]
    return float(np.mean(figures)) if figures else 0.0


def _average_precision(pictures: Sequence[dict[str, Any]], wanted: int, least: float) -> float:
    """Of one class: found boxes, best score first, each take the true box that they overlap most."""
    rows: list[tuple[float, bool]] = []
    there = 0
    for picture in pictures:
        true = np.array([row[1:] for row in picture["true"] if int(row[0]) == wanted], np.float64).reshape(-1, 4)
        there += len(true)
        free = np.ones(len(true), bool)
        found = [row for row in picture["found"] if int(row[0]) == wanted]
        for row in sorted(found, key=lambda item: -float(item[1])):
            shared = np.where(free, overlap(row[2:], true), -1.0) if len(true) else np.empty(0)
            best = int(shared.argmax()) if len(shared) else -1
            hit = best >= 0 and bool(shared[best] >= least)
            if hit:
                free[best] = False
            rows.append((float(row[1]), hit))
    rows.sort(key=lambda item: -item[0])
    hits = np.cumsum([hit for _, hit in rows]) if rows else np.empty(0)
    if not there or not len(hits):
        return 0.0
    precision = hits / np.arange(1, len(hits) + 1)
    best_behind = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(hits / there, _RECALLS, side="left")
    return float(np.mean([best_behind[place] if place < len(hits) else 0.0 for place in places]))


def confusion(found: npt.ArrayLike, true: npt.ArrayLike, classes: int) -> list[list[int]]:
    """What to keep of a segmented picture: how often each true class (rows) was found as each class (columns).

    True classes outside of 0..classes-1 (255, as data sets mark what does not count) are left out.
    """
    left, right = np.asarray(found).ravel().astype(np.int64), np.asarray(true).ravel().astype(np.int64)
    counted = (right >= 0) & (right < classes)
    pairs = right[counted] * classes + np.clip(left[counted], 0, classes - 1)
    counts: list[list[int]] = np.bincount(pairs, minlength=classes * classes).reshape(classes, classes).tolist()
    return counts


def mean_iou(confusions: Sequence[npt.ArrayLike]) -> float:
    """The mean over the classes that are there of intersection over union, over all pictures together."""
    total = np.sum([np.asarray(item, np.int64) for item in confusions], axis=0)
    shared = np.diag(total)
    union = total.sum(0) + total.sum(1) - shared
    return float(np.mean(shared[union > 0] / union[union > 0])) if (union > 0).any() else 0.0
