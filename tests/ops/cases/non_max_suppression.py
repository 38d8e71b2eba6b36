"""Cases of non_max_suppression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ir.operator import Array
from buildtool.ops.non_max_suppression import NonMaxSuppression
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, uniform

# Batches, classes, boxes, most per class, threshold of the overlap, threshold of the score.
_CASES: tuple[tuple[int, int, int, int, float, float], ...] = (
    (1, 1, 1, 1, 0.5, 0.0),
    (1, 1, 7, 7, 0.5, 0.0),
    (1, 1, 7, 2, 0.5, 0.0),
    (1, 1, 7, 0, 0.5, 0.0),
    (1, 1, 64, 64, 0.0, 0.0),
    (1, 1, 64, 100, 1.0, 0.25),
    (1, 1, 64, 10, 0.25, 0.75),
    (1, 3, 31, 31, 0.5, 0.5),
    (2, 1, 31, 31, 0.25, 0.0),
    (2, 3, 17, 5, 0.125, 0.25),
    (3, 2, 40, 40, 0.25, 2.0),
)


def onnx_form(case: OpCase) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    op: Any = case.op
    limits = [np.array([limit], np.float32) for limit in (op.iou_threshold, op.score_threshold)]
    numbers = (np.array([op.max_per_class]), *limits)
    yield "NonMaxSuppression", (*case.inputs, *numbers), {"center_point_box": int(op.center_point_box)}


def cases(rng: Rng) -> Iterator[OpCase]:
    for center in (False, True):
        for batches, classes, boxes, most, overlap, score in _CASES:
            op = NonMaxSuppression(
                center_point_box=center,
                max_per_class=most,
                iou_threshold=overlap,
                score_threshold=score,
                size=(symbol("found", 0, batches * classes * min(boxes, most)),),
            )
            corners = uniform(rng, (batches, boxes, 4), 0.0, 4.0)
            scores = np.round(uniform(rng, (batches, classes, boxes), 0.0, 1.0), 1)  # many are equal
            name = label("center" if center else "corners", batches, classes, boxes, most, overlap, score)
            yield OpCase(op, (corners, scores), name)
