"""Hostile and damaged files: one clear error each, quickly, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from buildtool.errors import InternalError, LatheError, ModelFileError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from tests.importers.onnx import malformed
from tests.importers.onnx.mistakes import healthy

MOST_SECONDS = 5.0
MOST_KIBIBYTES = 2**20
ROOT = Path(__file__).resolve().parents[3]


def _import(file: Path) -> None:
    optimise(import_model(ImportRequest("hostile", file)).graph)


def test_the_healthy_model_is_healthy(tmp_path: Path) -> None:
    file = tmp_path / "healthy.onnx"
    onnx.save(healthy(), file)
    _import(file)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    model = healthy()
    model.producer_name, model.graph.name = "the one who made it", "the graph in it"
    file = tmp_path / "model.onnx"
    file.write_bytes(model.SerializeToString().replace(b"the ", b"\xff\xfe\xfd "))
    _import(file)


def test_every_malformed_file_gives_one_typed_error(tmp_path: Path) -> None:
    (tmp_path / "outside.bin").write_bytes(bytes(432))
    kinds: Counter[str] = Counter()
    for name, file in malformed.files(tmp_path / "models"):
        started = time.monotonic()
        with pytest.raises(LatheError) as caught:
            _import(file)
            pytest.fail(f"{name} was imported")
        assert not isinstance(caught.value, InternalError), name
        assert time.monotonic() - started < MOST_SECONDS, name
        for problem in caught.value.problems:
            assert problem.where.file == str(file), (name, problem)
            assert "Traceback" not in problem.render()
            assert problem.remedy or problem.rule or problem.where.node or problem.where.value, (name, problem)
        kinds[type(caught.value).__name__] += 1
    assert sum(kinds.values()) >= 300
    assert set(kinds) == {"ModelFileError", "UnsupportedError"}


@pytest.mark.slow
def test_no_malformed_file_takes_much_time_or_memory(tmp_path: Path) -> None:
    (tmp_path / "outside.bin").write_bytes(bytes(432))
    models = tmp_path / "models"
    written = sum(1 for _ in malformed.files(models))
    command = [sys.executable, "-m", "tests.importers.onnx.measure", str(models)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == written
    for name, kind, seconds, kibibytes in results:
        assert kind in ("ModelFileError", "UnsupportedError"), name
        assert seconds < MOST_SECONDS, name
        assert kibibytes < MOST_KIBIBYTES, name


@pytest.mark.slow
def test_flipped_bits_give_a_model_or_a_typed_error(tmp_path: Path) -> None:
    whole = healthy().SerializeToString()
    generator = np.random.default_rng(3)
    file = tmp_path / "flipped.onnx"
    numbers = whole.find(numpy_helper.to_array(healthy().graph.initializer[-1]).tobytes())
    places = [place for place in range(len(whole)) if not numbers <= place < numbers + 1280]  # not in the large weights
    for _ in range(1000):
        data = bytearray(whole)
        for position in generator.choice(places, size=generator.integers(1, 4)):
            data[position] ^= 1 << int(generator.integers(8))
        file.write_bytes(bytes(data))
        started = time.monotonic()
        try:
            _import(file)
        except LatheError as problem:
            assert not isinstance(problem, InternalError), problem
        assert time.monotonic() - started < MOST_SECONDS


@pytest.mark.parametrize("what", ["missing", "folder", "unreadable"])
def test_a_file_that_cannot_be_read(what: str, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    if what == "folder":
        file.mkdir()
    if what == "unreadable":
        file = tmp_path / ("n" * 300)
    with pytest.raises(ModelFileError):
        _import(file)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.bin"
    outside.write_bytes(bytes(432))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "inside.bin").symlink_to(outside)
    model = healthy()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="inside.bin")
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ModelFileError, match="outside the model's folder"):
        _import(folder / "model.onnx")
