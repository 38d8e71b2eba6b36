"""Models of Caffe with OpenCV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("cv2",)


def compute(cv2: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    network = cv2.dnn.readNetFromCaffe(request["model"], request["weights"])
    for name, array in zip(request["inputs"], inputs, strict=True):
        network.setInput(array, name)
    return list(network.forward(request["outputs"]))
