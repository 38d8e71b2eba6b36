"""Files are known by what is in them, whatever their names say."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest

from buildtool.cli.main import run
from buildtool.digests import sha256_of
from buildtool.importers.frameworks import platform_of
from buildtool.importers.recognition import folder, in_its_place, model_in, recognise
from tests.importers.tflite.writer import GraphSpec, NodeSpec, TensorSpec, write

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.onnx"


def field(number: int, data: bytes | int) -> bytes:
    """A field of protobuf."""
    if isinstance(data, int):
        return bytes([number << 3, data])
    return bytes([number << 3 | 2, len(data)]) + data


def zipped(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"content")
    return stream.getvalue()


def tarred() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("model"))
    return stream.getvalue()


def tflite() -> bytes:
    return write(
        GraphSpec([TensorSpec(name, "float32", (1, 4)) for name in "ab"], [NodeSpec("RELU", [0], [1])], [0], [1])
    )


NODE = field(1, b"image") + field(2, b"Placeholder")
GRAPHS = {
    "onnx": ("an ONNX model", EXAMPLE.read_bytes()),
    "tflite": ("a TensorFlow Lite model", tflite()),
    "tensorflow": ("a frozen graph", field(1, NODE) + field(1, NODE)),
    "keras": ("an HDF5 file", b"\x89HDF\r\n\x1a\n\0\0"),
    "paddle": ("a program of PaddlePaddle", field(1, field(1, 0) + field(2, 1) + field(3, b"\x0a\x01x"))),
    "pytorch": ("a model of PyTorch", zipped("net/data.pkl", "net/version")),
    "caffe": ("a network of Caffe", b'name: "net"\nlayer {\n  name: "x"\n}\n'),
}


@pytest.mark.parametrize("platform", GRAPHS)
def test_models_are_known_by_their_content(platform: str, tmp_path: Path) -> None:
    what, data = GRAPHS[platform]
    for name in ("model", "model.onnx", "model.tflite", "model.pb"):
        (tmp_path / name).write_bytes(data)
        found = recognise(tmp_path / name)
        assert found is not None
        assert found.what.startswith(what)
        assert found.platform == platform_of(tmp_path / name) == platform
        assert in_its_place(tmp_path / name) is None


def test_forms_of_one_framework(tmp_path: Path) -> None:
    def kind(data: bytes, name: str = "model.onnx") -> tuple[str, str]:
        (tmp_path / name).write_bytes(data)
        found = recognise(tmp_path / name)
        assert found is not None
        return found.what, found.platform

    saved = field(1, 1) + field(2, field(1, field(1, b"op")) + field(2, NODE))
    assert kind(saved) == ("a SavedModel of TensorFlow", "tensorflow")
    assert kind(b"node {\n  name: 'x'\n}") == ("a graph of TensorFlow as text", "tensorflow")
    assert kind(zipped("config.json", "model.weights.h5", "metadata.json")) == ("a model of Keras", "keras")
    assert kind(b'{"base_code": {"magic": "pir"}}', "inference.json") == ("a program of PaddlePaddle", "paddle")
    mace = field(1, b"input") + field(2, b"output") + field(3, b"conv1") + field(4, b"Conv2D")
    assert kind(field(1, mace), "mace.pb")[0] == "a model that MACE has converted"


@pytest.mark.parametrize(
    ("data", "what", "remedy"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS", "git lfs pull"),
        (b"\xef\xbb\xbf \n<!DOCTYPE html><html>", "an HTML page", "the direct address of the file"),
        (b"\x1f\x8b\x08\0", "a gzip archive", "gunzip"),
        (b"BZh91AY", "a bzip2 archive", "bunzip2"),
        (tarred(), "a tar archive", "tar xf"),
        (zipped("readme.txt", "net/model.tflite"), "a zip archive, which holds net/model.tflite", "unzip model.onnx"),
        (zipped("model.onnx")[:40], "a damaged or truncated zip archive", "download it again"),
        (zipped("a.npy"), "arrays of NumPy", "lathe run --input"),
        (b"GGUF\x03\0\0\0", "a GGUF file", "ONNX"),
        (b"KMDL\x04\0\0\0", "a kmodel of nncase", "import the model that it was made from"),
        (b"\x40\0\0\0\0\0\0\0" + b'{"weight":{}}', "a safetensors file", "ONNX"),
        (b"7767517\n75 83\n", "a parameter file of ncnn", "made from"),
        (b'<?xml version="1.0"?>\n<net name="x">', "a network of OpenVINO", "ONNX"),
        (b'{"format":"layers-model","modelTopology":{}}', "a model of TensorFlow.js", "tensorflowjs_converter"),
        (b'{"modelTopology": {"node": []}}', "a model of TensorFlow.js", "made from"),
        (b'{\n  "architectures": ["BertModel"]}', "a configuration of Hugging Face's", "ONNX"),
        (b'{"class_name": "Functional"}', "the architecture of a Keras model", ".keras"),
        (b"\x89PNG\r\n\x1a\n", "an image", "give the model"),
        (b"%PDF-1.7", "a PDF document", "download"),
        (b"\x7fELF\x02", "a program or library", "lathe inspect"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives hold the time at which they were made
)
def test_other_files_are_named_with_a_remedy(data: bytes, what: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(data)
    found = recognise(tmp_path / "model.onnx")
    assert found is not None
    assert found.what.startswith(what)
    assert remedy in found.remedy
    assert found.platform == ""
    assert platform_of(tmp_path / "model.onnx") == ""


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "net.pdmodel").touch()
    assert model_in(tmp_path) == tmp_path / "net.pdmodel"
    (tmp_path / "saved_model.pb").touch()
    assert model_in(tmp_path) == tmp_path / "saved_model.pb"
    assert platform_of(tmp_path) == "tensorflow"
    checkpoint = tmp_path / "v1"
    checkpoint.mkdir()
    assert folder(checkpoint) is None
    (checkpoint / "net.ckpt-100.index").touch()
    found = folder(checkpoint)
    assert found is not None
    assert found.what == "a checkpoint of TensorFlow 1"
    assert model_in(checkpoint) == checkpoint


def test_nothing_harms(tmp_path: Path) -> None:
    """Any bytes give an answer, and names count where content says nothing."""
    rng = np.random.default_rng(0)
    for seed in range(300):
        data = rng.integers(0, 256, int(rng.integers(0, 200)), dtype=np.uint8).tobytes()
        (tmp_path / "x").write_bytes(bytes([10, 18, 8][seed % 3 : seed % 3 + 1]) + data)
        recognise(tmp_path / "x")
    (tmp_path / "x.tflite").write_bytes(b"")
    assert recognise(tmp_path / "x.tflite") is None
    assert platform_of(tmp_path / "x.tflite") == "tflite"
    assert recognise(tmp_path / "missing") is None
    model = onnx.load(EXAMPLE)
    model.ClearField("producer_name")
    (tmp_path / "y").write_bytes(model.SerializeToString())
    assert platform_of(tmp_path / "y") == "onnx"


@pytest.mark.parametrize("ending", ["onnx", "tflite", "pb", "h5", "keras", "kmodel"])
def test_pipes_and_devices_in_the_place_of_models_are_not_waited_for(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody ever writes into the one, and the other has no end."""
    pipe, device = tmp_path / f"pipe.{ending}", tmp_path / f"device.{ending}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for file in (pipe, device):
        assert recognise(file) is None
        assert in_its_place(file) is None
        with pytest.raises(OSError, match="a device or a pipe"):
            sha256_of(file)
        for words in (["inspect", str(file)], ["init", str(file), "--output", str(tmp_path / "deploy.yml")]):
            assert run(words) in (2, 3, 4)
            told = capsys.readouterr().err
            assert file.name in told
            assert "error:" in told and "fix:" in told
