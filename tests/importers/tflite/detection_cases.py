"""Cases of the operators at the end of detectors; LiteRT says what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from buildtool.ir.operator import Array
from tests.importers.tflite.harness import Case, ints, random
from tests.importers.tflite.writer import Quantisation

_F = "float32"
_COUNT, _CLASSES = 40, 3
_OPTIONS = {
    "max_detections": 6,
    "max_classes_per_detection": 1,
    "num_classes": _CLASSES,
    "nms_score_threshold": 0.3,
    "nms_iou_threshold": 0.4,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}


def _anchors() -> Array:
    centres, sides = random(_COUNT, 2, low=0.1, high=0.9), random(_COUNT, 2, seed=1, low=0.2, high=0.5)
    return np.concatenate([centres, sides], axis=1)


def _detector(classes: int = _CLASSES + 1, seed: int = 0, **changed: Any) -> Case:
    scores = random(1, _COUNT, classes, seed=seed, low=0.0, high=1.0)
    return Case(
        "TFLite_Detection_PostProcess",
        (random(1, _COUNT, 4, seed=seed), scores, _anchors()),
        constants=(2,),
        outputs=(_F,) * 4,
        custom=bytes(flexbuffers.Dumps({**_OPTIONS, **changed})),
    )


def _quantised() -> Case:
    dice = np.random.default_rng(3)
    codes = dice.integers(0, 256, (1, _COUNT, 4), np.uint8)
    scores = dice.permutation(_COUNT * 4).reshape(1, _COUNT, 4).astype(np.uint8)
    anchors = np.round(_anchors() * 200).astype(np.uint8)
    return Case(
        "TFLite_Detection_PostProcess",
        (codes, scores, anchors),
        constants=(2,),
        outputs=(_F,) * 4,
        custom=bytes(flexbuffers.Dumps(_OPTIONS)),
        quantised={
            0: Quantisation((0.02,), (120,)),
            1: Quantisation((1 / 200,), (0,)),
            2: Quantisation((1 / 200,), (0,)),
        },
    )


_BOXES = ints(
    [
        [0, 0, 1, 1],
        [0, 0.1, 1, 1.1],
        [0, -0.1, 1, 0.9],
        [0, 10, 1, 11],
        [1, 11.1, 0, 10.1],  # its corners are the other way round
        [0, 100, 1, 101],
        [0, 100.5, 1, 101],  # half of the one before
    ],
    dtype=_F,
)
_SCORES = ints(0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.25, dtype=_F)


def _apart(most: int, overlap: float, least: float) -> list[Case]:
    held = (ints([most])[0], np.float32(overlap), np.float32(least))
    return [
        Case(
            "NON_MAX_SUPPRESSION_V4",
            (_BOXES, _SCORES, *held),
            "NonMaxSuppressionV4Options",
            {},
            (2, 3, 4),
            ("int32", "int32"),
        ),
        Case(
            "NON_MAX_SUPPRESSION_V5",
            (_BOXES, _SCORES, *held, np.float32(0)),
            "NonMaxSuppressionV5Options",
            {},
            (2, 3, 4, 5),
            ("int32", _F, "int32"),
        ),
    ]


def _softly_apart(most: int, overlap: float, least: float, sigma: float) -> Case:
    held = (ints([most])[0], np.float32(overlap), np.float32(least), np.float32(sigma))
    sides = random(_COUNT, 2, seed=5, low=0.2, high=0.6)
    low = random(_COUNT, 2, seed=6, low=0.0, high=1.0)
    boxes = np.concatenate([low, low + sides], axis=1)
    return Case(
        "NON_MAX_SUPPRESSION_V5",
        (boxes, random(_COUNT, seed=7, low=0.0, high=1.0), *held),
        "NonMaxSuppressionV5Options",
        {},
        (2, 3, 4, 5),
        ("int32", _F, "int32"),
    )


#: LiteRT leaves what was in memory behind the objects that the fast way finds.
FEWER_THAN_ASKED = _detector(max_detections=60, nms_score_threshold=0.8)
#: Three, of which five are asked for: as above.
FEWER_CLASSES = _detector(max_classes_per_detection=5, max_detections=3)
ROOM_FOR_TWICE_AS_MANY = _detector(
    _CLASSES, 3, max_classes_per_detection=2, use_regular_nms=True, detections_per_class=4
)
DETECTION = [
    _detector(),
    _detector(_CLASSES, 1),
    _detector(use_regular_nms=True),
    _detector(use_regular_nms=True, detections_per_class=1, max_detections=5),
    _detector(_CLASSES, 2, use_regular_nms=True, detections_per_class=4, nms_score_threshold=0.9, max_detections=20),
    _detector(max_classes_per_detection=2, max_detections=3),
    _detector(max_classes_per_detection=3, max_detections=3),
    _quantised(),
    *_apart(3, 0.5, 0.4),
    *_apart(9, 0.5, 0.0),
    *_apart(4, 0.25, 0.0),
    *_apart(6, 1.0, 0.25),
    _softly_apart(10, 0.9, 0.05, 0.5),
    _softly_apart(_COUNT, 0.4, 0.25, 0.2),
    _softly_apart(60, 1.0, 0.3, 1.5),
    _softly_apart(5, 0.5, 0.99, 0.5),
]
