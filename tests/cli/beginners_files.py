"""Files of beginners that are not what a command expects, each with what its message has to say."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.cli.beginners_mistakes import Change, Mistake, made, model, text
from tests.importers.test_recognition import NODE, field

SAVED_MODEL = field(1, 1) + field(2, field(1, field(1, b"op")) + field(2, field(1, NODE)))
_HEADER = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
SAFETENSORS = struct.pack("<Q", len(_HEADER)) + _HEADER + bytes(4)
PROTOTXT = b'name: "net"\ninput: "image"\nlayer {\n  name: "x"\n  type: "ReLU"\n  bottom: "image"\n  top: "x"\n}\n'


def zipped(folder: Path) -> None:
    """The model as sites offer it."""
    with zipfile.ZipFile(folder / "digits.zip", "w") as archive:
        archive.write(folder / "digits.onnx", "digits.onnx")


def inside(name: str, *files: str) -> Change:
    """A folder with such files."""

    def change(folder: Path) -> None:
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).write_bytes(bytes(64))

    return change


def deployment(content: bytes) -> Change:
    """Something else as the deployment file."""
    return made("deploy.yml", content)


def both(*changes: Callable[[Path], None]) -> Change:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


CHECKPOINT = inside("ckpt", "checkpoint", "net.ckpt-100.index", "net.ckpt-100.meta", "net.ckpt-100.data-00000-of-00001")
FILES = (
    Mistake(
        "a model of TensorFlow.js",
        made("model.json", b'{"format": "layers-model", "modelTopology": {}, "weightsManifest": []}'),
        "this is a model of TensorFlow.js",
        "model.json: ",
        "cannot be imported",
        "tensorflowjs_converter",
        "init model.json",
    ),
    Mistake(
        "a zip archive to build",
        zipped,
        "this is a zip archive, which holds digits.onnx",
        "digits.zip: ",
        "not a deployment file",
        "unzip digits.zip",
        "build digits.zip",
    ),
    Mistake(
        "a page as the deployment file",
        deployment(b"<!DOCTYPE html>\n<html><head></head></html>\n"),
        "this is an HTML page",
        "deploy.yml: ",
        "not a deployment file",
        "from the direct address of the file",
    ),
    Mistake(
        "an empty deployment file",
        deployment(b""),
        "the file is empty",
        "deploy.yml: ",
        "",
        "`lathe init` writes a first version",
    ),
    Mistake(
        "a list as the deployment file",
        deployment(b"- digits.onnx\n"),
        "the file must be a mapping",
        "deploy.yml:1:1",
        "it contains keys such as",
        "`lathe init MODEL` writes such a file",
    ),
    Mistake(
        "a deployment file without models",
        deployment(b"library_name: digits\nmodels: {}\n"),
        "'models' is empty",
        "deploy.yml:2:1",
        "",
        "describe at least one model",
    ),
    Mistake(
        "a folder as the deployment file",
        made("notes.txt"),
        "Is a directory",
        "samples: ",
        "cannot read the file",
        "name the file itself, not its folder",
        "check samples",
    ),
    Mistake(
        "another text as the deployment file",
        made("notes.txt", b"my notes\n"),
        "the file must be a mapping",
        "notes.txt:1:1",
        "it contains keys such as",
        "`lathe init MODEL` writes such a file",
        "convert notes.txt",
    ),
    Mistake(
        "a checkpoint of TensorFlow 1",
        CHECKPOINT,
        "this is a checkpoint of TensorFlow 1",
        "ckpt: ",
        "which cannot be imported",
        "freeze it with TensorFlow",
        "init ckpt",
    ),
    Mistake(
        "a file of a checkpoint",
        CHECKPOINT,
        "this is a checkpoint of TensorFlow 1",
        "net.ckpt-100.index: ",
        "which cannot be imported",
        "freeze it with TensorFlow",
        "init ckpt/net.ckpt-100.index",
    ),
    Mistake(
        "a folder without a model",
        made("notes.txt"),
        "this folder holds no model that Lathe knows",
        "samples: ",
        "known: .onnx, .tflite",
        "name the file of the model itself",
        "init samples",
    ),
    Mistake(
        "a file of llama.cpp",
        made("net.gguf", b"GGUF" + bytes(60)),
        "this is a GGUF file of llama.cpp",
        "net.gguf: ",
        "GGUF holds weights without a graph",
        "export the model to ONNX",
        "init net.gguf",
    ),
    Mistake(
        "weights without a graph",
        made("net.safetensors", SAFETENSORS),
        "this is a safetensors file",
        "net.safetensors: ",
        "the file holds weights without a graph",
        "export the model to ONNX",
        "init net.safetensors",
    ),
    Mistake(
        "a kmodel to run",
        made("net.kmodel", b"KMDL" + bytes(60)),
        "this is a kmodel of version 0",
        "net.kmodel: ",
        "only version 3 is supported",
        "convert the model again",
        "run net.kmodel",
    ),
    Mistake(
        "a photo as the model",
        made("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(20)),
        "this is an image",
        "photo.jpg: ",
        "which cannot be imported",
        "images are inputs of `lathe run --input`",
        "init photo.jpg",
    ),
    Mistake(
        "a text called .h5",
        made("weights.h5", b"weights of my model\n"),
        "this is not a Keras model",
        "weights.h5, model",
        "HDF5, or an archive .keras",
        "save or download it again",
        "init weights.h5",
    ),
    Mistake(
        "a SavedModel called .onnx",
        model(SAVED_MODEL),
        "no model of onnx",
        "digits.onnx, model 'digits'",
        "this is a SavedModel of TensorFlow",
        "write platform: tensorflow",
    ),
    Mistake(
        "a prototxt alone",
        made("net.prototxt", PROTOTXT),
        "there is no 'net.caffemodel'",
        "net.prototxt: ",
        "with the same name and the suffix .caffemodel",
        "put the weights next to the prototxt",
        "init net.prototxt",
    ),
    Mistake(
        "a misspelt model to init",
        made("notes.txt"),
        "No such file or directory",
        "digts.onnx: ",
        "the model cannot be read",
        "did you mean 'digits.onnx'?",
        "init digts.onnx",
    ),
    Mistake(
        "a device file without devices",
        made("devices.yml", b"phone\n"),
        "the file must be a mapping",
        "devices.yml:1:1",
        "it contains keys such as devices",
        "",
        "devices --device-yml devices.yml",
    ),
    Mistake(
        "a range upside down",
        text('"0.0,1.0"', '"1.0,0.0"'),
        "'input_ranges' has '1.0,0.0' for a range",
        "deploy.yml:15:",
        "with low not above high",
        "",
    ),
    Mistake(
        "bounds upside down",
        text("1,1,8,8", "8..1,1,8,8"),
        "'8..1' is not a dimension",
        "deploy.yml:13:24",
        "the lower bound comes first",
        "write 1..8",
    ),
    Mistake(
        "a dimension of 0",
        text("1,1,8,8", "0,1,8,8"),
        "'0' is not a dimension",
        "deploy.yml:13:24",
        "a dimension is between 1 and",
        "",
    ),
    Mistake(
        "integers for an input of real numbers",
        text("        output_tensors", "        input_data_types: [int32]\n        output_tensors"),
        "the input 'image' is int32 here, and float32 in the model",
        "deploy.yml:13:24",
        "one that keeps the values",
        "declare input_data_types: [float32]",
    ),
    Mistake(
        "a type of the DSP for the CPU",
        text("fp32_fp32", "uint8"),
        "the runtime 'cpu' has no 'data_type' 'uint8'",
        "deploy.yml:21:16",
        "uint8 is the type of the DSP",
        "use quantize for other runtimes",
    ),
)
