"""Models of Caffe with OpenCV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("cv2",)


def compute(cv2: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    network = cv2.dnn.readNetFromCaffe(request["model"], request["weights"])
    for name, array in zip(request["inputs"], inputs, strict=True):
        network.setInput(array, name)
    outputs = list(network.forward(request["outputs"]))
    return [_found(network, *pair) for pair in zip(request["outputs"], outputs, strict=True)]


def _found(network: Any, name: str, output: Any) -> Any:
    """OpenCV fills what a detector has found up to its largest number with rows of zeros; Caffe does not."""
    if network.getLayer(name).type != "DetectionOutput":
        return output
    return output[:, :, (output != 0).any(axis=(0, 1, 3))]
