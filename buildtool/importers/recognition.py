"""Recognises model files, and what is found in their place, by content: names of files say little after a download."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildtool import archives

_HEAD = 4096
_FETCH = "fetch the model: git lfs pull"
_ADDRESS = "download it again from the direct address of the file"
_EXPORT = "export the model to ONNX with the framework that made it"
_SOURCE = "import the model that it was made from"


@dataclass(frozen=True)
class Content:
    """What a file is. `platform`: what imports it; where nothing does, `remedy` says what to do instead."""

    what: str
    platform: str = ""
    remedy: str = ""


_STARTS = (
    (b"version https://git-lfs.github.com/spec/", Content("a pointer of Git LFS", remedy=_FETCH)),
    (b"\x1f\x8b", Content("a gzip archive", remedy="unpack it first: gunzip, or tar xzf for a .tar.gz")),
    (b"BZh", Content("a bzip2 archive", remedy="unpack it first: bunzip2, or tar xjf")),
    (b"\xfd7zXZ\0", Content("an xz archive", remedy="unpack it first: unxz, or tar xJf")),
    (b"\x28\xb5\x2f\xfd", Content("a zstd archive", remedy="unpack it first: unzstd")),
    (b"7z\xbc\xaf\x27\x1c", Content("a 7z archive", remedy="unpack it first")),
    (b"Rar!", Content("a RAR archive", remedy="unpack it first")),
    (b"\x89HDF\r\n\x1a\n", Content("an HDF5 file, as Keras writes it", "keras")),
    (b"GGUF", Content("a GGUF file of llama.cpp", remedy=f"{_EXPORT}; GGUF holds weights without a graph")),
    (b"KMDL", Content("a kmodel of nncase 1 or 2", remedy=f"{_SOURCE}; Lathe writes version 3 of nncase 0.2")),
    (b"RKNN", Content("a model of Rockchip's RKNN", remedy=_SOURCE)),
    (b"7767517", Content("a parameter file of ncnn", remedy=_SOURCE)),
    (b"\x7fELF", Content("a program or library", remedy="to see its contents: lathe inspect FILE")),
    (b"!<arch>\n", Content("a static library", remedy="to see its contents: lathe inspect FILE")),
    (b"%PDF", Content("a PDF document", remedy=_ADDRESS)),
    (b"\x89PNG", Content("an image", remedy="give the model; images are inputs of `lathe run --input`")),
    (b"\xff\xd8\xff", Content("an image", remedy="give the model; images are inputs of `lathe run --input`")),
    (b"\x93NUMPY", Content("an array of NumPy", remedy="give the model; arrays are inputs of `lathe run --input`")),
)
_CHECKPOINT = re.compile(r"\.ckpt(-\d+)?\.(index|meta|data-\d+-of-\d+)$")
_PAGES = (b"<!doctype html", b"<html")
_TFLITE = Content("a TensorFlow Lite model", "tflite")
_ONNX = Content("an ONNX model", "onnx")
_SAVED_MODEL = Content("a SavedModel of TensorFlow", "tensorflow")
_GRAPH = Content("a frozen graph of TensorFlow", "tensorflow")
_PROGRAM = Content("a program of PaddlePaddle", "paddle")
_TORCH = Content("a model of PyTorch", "pytorch")
_CONVERTED = Content("a model that Lathe has converted", remedy="to see its contents: lathe inspect model FILE")
_MACE = Content("a model that MACE has converted", remedy=_SOURCE)
_TF1 = Content(
    "a checkpoint of TensorFlow 1",
    remedy="freeze it with TensorFlow: tf.compat.v1.graph_util.convert_variables_to_constants, and import the .pb",
)
_SAFETENSORS = Content("a safetensors file", remedy=f"{_EXPORT}; the file holds weights without a graph")


#: What JSON says of itself near its beginning, beside the programs of PaddlePaddle.
_JSON = (
    (
        re.compile(rb'"(modelTopology|weightsManifest)"\s*:|"format"\s*:\s*"(graph|layers)-model"'),
        Content(
            "a model of TensorFlow.js",
            remedy=f"{_SOURCE}, or convert a layers-model back: tensorflowjs_converter "
            "--input_format=tfjs_layers_model --output_format=keras model.json model.h5",
        ),
    ),
    (
        re.compile(rb'"(architectures|model_type|transformers_version)"\s*:'),
        Content("a configuration of Hugging Face's transformers", remedy=f"{_EXPORT}; this file holds no graph"),
    ),
    (
        re.compile(rb'^\s*\{\s*"(class_name|module|config)"\s*:'),
        Content("the architecture of a Keras model, without its weights", remedy="save the model as .keras, or as .h5"),
    ),
)


def recognise(file: Path) -> Content | None:
    """What a file is; None where its content does not say, or cannot be read."""
    try:
        if not file.is_file():
            return None  # a pipe would wait for somebody who writes into it
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
        return _by_start(head) or _by_zip(file, head) or _by_name(file) or _by_structure(file, head)
    except OSError:
        return None


def in_its_place(file: Path) -> Content | None:
    """What stands certainly in the place of a model: its first bytes are those of another kind of file."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            found = _by_start(stream.read(_HEAD))
    except OSError:
        return None  # the importer says what is wrong with it
    return found if found is not None and not found.platform else None


def is_saved_model(file: Path) -> bool:
    """Whether a file is that of a SavedModel, whatever it is called."""
    return recognise(file) is _SAVED_MODEL


def model_in(path: Path) -> Path:
    """The file that stands for a folder: of a SavedModel, of PaddlePaddle; the path itself for everything else."""
    if not path.is_dir():
        return path
    for name in ("saved_model.pb", "saved_model.pbtxt", "__model__", "inference.pdmodel", "inference.json"):
        if (path / name).is_file():
            return path / name
    found = [file for pattern in ("*.pb", "*.pdmodel", "*.onnx") for file in sorted(path.glob(pattern))]
    return found[0] if len(found) == 1 else path


def folder(path: Path) -> Content | None:
    """What a folder is that no file stands for."""
    if (path / "checkpoint").is_file() or any(path.glob("*.ckpt*.index")):
        return _TF1
    if any(path.glob("*.safetensors")):
        return _SAFETENSORS
    if (path / "Manifest.json").is_file() and path.suffix == ".mlpackage":
        return Content("a model of Core ML", remedy=_EXPORT)
    if (path / "report" / "build.json").is_file():
        return Content("the folder of a build", remedy=f"to see its contents: lathe inspect build {path}")
    return None


def _by_start(head: bytes) -> Content | None:
    for start, content in _STARTS:
        if head.startswith(start):
            return content
    if head[4:8] == b"TFL3":
        return _TFLITE
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGES):
        return Content("an HTML page", remedy=_ADDRESS)
    if head[257:262] == b"ustar":
        return Content("a tar archive", remedy="unpack it first: tar xf")
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 28:
        return _SAFETENSORS
    if head.lstrip().startswith(b"{") and b'"base_code"' not in head:
        return next((content for pattern, content in _JSON if pattern.search(head)), None)
    if head.startswith(b"\x80") and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and b"torch" in head:
        return _TORCH
    return None


def _by_zip(file: Path, head: bytes) -> Content | None:
    if not head.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except archives.DAMAGED:
        return Content("a damaged or truncated zip archive", remedy=_ADDRESS)
    if "config.json" in names and "model.weights.h5" in names:
        return Content("a model of Keras", "keras")
    if any(name.endswith((".pkl", "archive_format")) or "/models/" in name for name in names):
        return _TORCH
    if names and all(name.endswith(".npy") for name in names):
        return Content("arrays of NumPy", remedy="give the model; arrays are inputs of `lathe run --input`")
    models = [name for name in names if name.endswith((".onnx", ".tflite", ".pb", ".h5", ".pdmodel"))]
    inside = f", which holds {models[0]}" if models else ""
    return Content(f"a zip archive{inside}", remedy=f"unpack it first: unzip {file.name}")


def _by_name(file: Path) -> Content | None:
    """The files of a checkpoint: tables and numbers that only their names tell from other files."""
    return _TF1 if _CHECKPOINT.search(file.name) else None


def _by_structure(file: Path, head: bytes) -> Content | None:
    if _is_text(head):
        return _by_text(file, head)
    fields = list(_fields(head))
    kinds = [number for number, _ in fields]
    if not fields:
        return None
    number, first = fields[0]
    if number == 1 and first is None:  # a number: the version of ONNX, or of the schema of SavedModel
        second = fields[1][1] if len(fields) > 1 else b""
        if kinds[1:2] == [2] and second is not None and second[:1] in (b"\x0a", b"\x12"):
            return _SAVED_MODEL
        third = next((value for number, value in fields if number == 3 and value), None)
        if third is not None and not _prints(third):
            return _CONVERTED
        return _ONNX if 7 in kinds else None
    if number == 1 and first is not None and first[:1] in (b"\x08", b"\x0a", b"\x12"):
        if first[:2] == b"\x08\x00" and first[2:3] == b"\x10":
            return _PROGRAM
        return _of_nodes(first)
    return None


def _of_nodes(first: bytes) -> Content | None:
    """A file that begins with a node: TensorFlow writes name and operator, MACE inputs, outputs, name and operator."""
    texts = [(number, value) for number, value in _fields(first) if value is not None]
    operator = next((value for number, value in texts if number == 2), b"")
    if any(number == 4 and re.fullmatch(rb"[A-Z]\w+", value) for number, value in texts):
        return _MACE
    return _GRAPH if re.fullmatch(rb"[A-Za-z]\w*", operator) else None


def _by_text(file: Path, head: bytes) -> Content | None:
    if re.search(rb"^\s*layers?\s*\{", head, re.MULTILINE):
        return Content("a network of Caffe", "caffe")
    if re.search(rb"^\s*node\s*\{", head, re.MULTILINE):
        return Content("a graph of TensorFlow as text", "tensorflow")
    if head.startswith(b"model_checkpoint_path:"):
        return _TF1
    if head.lstrip().startswith(b"<?xml") and b"<net " in head:
        return Content("a network of OpenVINO", remedy=_EXPORT)
    if head.lstrip().startswith(b"{") and b"base_code" in head[:200]:
        return _PROGRAM
    return None


def _is_text(head: bytes) -> bool:
    return b"\0" not in head and not re.search(rb"[\x01-\x08\x0e-\x1a\x7f]", head[:512])


def _prints(data: bytes | None) -> bool:
    return bool(data) and data is not None and bool(re.fullmatch(rb"[ -~]+", data[:64]))


def _fields(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """The fields of a protobuf message: number, and its bytes or None for a number. Ends where nothing can follow."""
    place = 0
    while place < len(data):
        tag, place = _number(data, place)
        kind = tag & 7
        if kind == 0:
            _, place = _number(data, place)
            yield tag >> 3, None
        elif kind == 2:
            size, place = _number(data, place)
            yield tag >> 3, data[place : place + size]
            place += size
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
            yield tag >> 3, None
        else:
            return


def _number(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 64:
        value |= (data[place] & 0x7F) << shift
        place += 1
        if not data[place - 1] & 0x80:
            break
        shift += 7
    return value, place
