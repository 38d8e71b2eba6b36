"""Cases of detection_output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.dims import symbol
from buildtool.ops.detection_output import CODES, DetectionOutput
from tests.ops.case import OpCase
from tests.ops.inputs import Rng, label, normal, uniform

# Pictures, priors, classes, own boxes, background, most per class, most, threshold of the score, of the overlap.
_CASES: tuple[tuple[int, int, int, bool, int, int, int, float, float], ...] = (
    (1, 1, 1, False, -1, -1, -1, 0.0, 0.5),
    (1, 1, 2, False, 0, 1, 1, 0.0, 0.5),
    (1, 17, 3, False, 0, -1, -1, 0.25, 0.45),
    (1, 64, 2, False, 0, 40, 20, 0.0, 0.45),
    (2, 31, 4, False, 0, 10, 7, 0.5, 0.3),
    (2, 31, 4, True, 2, -1, 11, 0.5, 0.3),
    (1, 50, 2, True, -1, 13, -1, 0.0, 0.9),
    (3, 23, 3, False, 1, 23, 1, 0.1, 0.0),
    (2, 23, 3, False, 7, 5, 200, -1.0, 1.0),
    (2, 13, 3, False, 0, -1, -1, 2.0, 0.5),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    for number, code in enumerate(CODES):
        for pictures, priors, classes, own, background, each, most, score, overlap in _CASES:
            bound = pictures * priors * classes
            op = DetectionOutput(
                code=code,
                variances_in_codes=(number + priors) % 2 == 0,
                background=background,
                score_threshold=score,
                iou_threshold=overlap,
                most_per_class=each,
                most_per_picture=most,
                size=(symbol("found", 0, bound),),
            )
            corner = uniform(rng, (priors, 2), 0.0, 0.7)
            boxes = np.concatenate([corner, corner + uniform(rng, (priors, 2), 0.1, 0.3)], axis=1)
            variances = uniform(rng, (priors, 4), 0.1, 0.2)
            codes = normal(rng, (pictures, priors * 4 * (classes if own else 1))) * np.float32(0.2)
            scores = np.round(uniform(rng, (pictures, priors * classes), 0.0, 1.0), 2)  # some are equal
            name = label(code, pictures, priors, classes, "own" if own else "shared", background, each, most, score)
            yield OpCase(op, (codes, scores, np.stack([boxes, variances]).reshape(1, 2, -1)), name)
