"""The networks of rapidocr-onnxruntime (detection, recognition, classification), as its wheel holds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from tests import wheels

PACKAGE = "rapidocr-onnxruntime==1.4.4"


@dataclass(frozen=True)
class Network:
    """A network, the bounds of its input in the order N, C, H, W, and sizes to try."""

    name: str
    file: str
    sha256: str
    bounds: tuple[int | tuple[int, int], ...]
    sizes: tuple[tuple[int, int], ...]  # height and width

    def path(self) -> Path:
        return files()[self.file]

    def load(self) -> ImportedModel:
        request = TensorRequest("x", self.bounds, "NCHW")
        return import_model(ImportRequest(self.name, self.path(), inputs=(request,)))


NETWORKS = (
    Network(
        "det",
        "ch_PP-OCRv4_det_infer.onnx",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
        (1, 3, (32, 960), (32, 960)),
        ((192, 320), (320, 256), (480, 640)),
    ),
    Network(
        "rec",
        "ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        (1, 3, 48, (32, 640)),
        ((48, 320), (48, 96), (48, 523)),
    ),
    Network(
        "cls",
        "ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        (1, 3, 48, (32, 384)),
        ((48, 192), (48, 101), (48, 384)),
    ),
)


def files() -> dict[str, Path]:
    """The .onnx files of the wheel by name. WheelNotAvailableError where the wheel cannot be had."""
    return wheels.files(PACKAGE, {network.file: network.sha256 for network in NETWORKS})
