"""Mistakes that beginners make in deployment files and with models, each with what its message has to say.

A mistake is made in a folder that holds the example `digits`; `command` is what the beginner types there. The four
words of a grade are texts that the message must contain: what is wrong, where, why (the rule), and the remedy.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

Change = Callable[[Path], None]
CHECK = "check deploy.yml"


@dataclass(frozen=True)
class Mistake:
    """One mistake; `change` makes it in the folder of the example."""

    name: str
    change: Change
    what: str
    where: str
    why: str
    remedy: str
    command: str = CHECK
    tools: bool = True  # whether compilers are found

    def grade(self, message: str) -> int:
        """How many of the four questions the message answers."""
        return sum(word != "" and word in message for word in (self.what, self.where, self.why, self.remedy))


def nothing(folder: Path) -> None:
    """The mistake is in the command line."""


def text(old: str, new: str) -> Change:
    """The deployment file with other words."""

    def change(folder: Path) -> None:
        file = folder / "deploy.yml"
        before = file.read_text()
        assert old in before
        file.write_text(before.replace(old, new, 1))

    return change


def model(content: bytes | Callable[[bytes], bytes], name: str = "digits.onnx", platform: str = "onnx") -> Change:
    """Another file where the model should be, without a checksum."""

    def change(folder: Path) -> None:
        original = (folder / "digits.onnx").read_bytes()
        (folder / name).write_bytes(content if isinstance(content, bytes) else content(original))
        lines = (folder / "deploy.yml").read_text().splitlines(keepends=True)
        kept = "".join(line for line in lines if "checksum" not in line)
        named = kept.replace("digits.onnx", name).replace("platform: onnx", f"platform: {platform}")
        (folder / "deploy.yml").write_text(named)

    return change


def array(shape: tuple[int, ...], dtype: type = np.float32) -> Change:
    """An input for a run."""
    return lambda folder: np.save(folder / "image.npy", np.zeros(shape, dtype))


def made(name: str, content: bytes = b"") -> Change:
    """A file beside the deployment file."""

    def change(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return change


def unknown(original: bytes) -> bytes:
    """The model with an operator that no importer knows."""
    loaded = onnx.ModelProto.FromString(original)
    loaded.graph.node[0].op_type = "NoSuchOperator"
    return loaded.SerializeToString()


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"
PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"
TFLITE = b"\x1c\0\0\0TFL3" + b"\0" * 64
CHECKSUM = "93529caad1f9668d6a856e5834030c79d0c15acab241f0701b43eeac9426d604"

FILE = (
    Mistake(
        "a misspelt key",
        text("model_file_path:", "model_path:"),
        "unknown key 'model_path'",
        "deploy.yml:9:5",
        "",
        "did you mean 'model_file_path'?",
    ),
    Mistake(
        "a misspelt key at the top",
        text("library_name:", "libary_name:"),
        "unknown key 'libary_name'",
        "deploy.yml:2:1",
        "",
        "did you mean 'library_name'?",
    ),
    Mistake(
        "a misspelt runtime",
        text("runtime: cpu", "runtime: cpuu"),
        "'runtime' cannot be 'cpuu'",
        "deploy.yml:20:14",
        "allowed: cpu, gpu",
        "did you mean 'cpu'?",
    ),
    Mistake(
        "a runtime by another name",
        text("runtime: cpu", "runtime: opencl"),
        "'runtime' cannot be 'opencl'",
        "deploy.yml:20:14",
        "allowed: cpu, gpu",
        "did you mean 'gpu'?",
    ),
    Mistake(
        "a data type by another name",
        text("fp32_fp32", "float32"),
        "'data_type' cannot be 'float32'",
        "deploy.yml:21:16",
        "allowed: fp16_fp32",
        "did you mean 'fp32_fp32'?",
    ),
    Mistake(
        "a type of outputs by another name",
        text("        output_shapes", "        output_data_types: [fp32]\n        output_shapes"),
        "'output_data_types' cannot be 'fp32'",
        "deploy.yml:17",
        "allowed: ",
        "did you mean 'float32'?",
    ),
    Mistake(
        "a misspelt ABI",
        text("arm-linux-gnueabihf", "arm64-v8"),
        "'target_abis' cannot be 'arm64-v8'",
        "deploy.yml:3:40",
        "allowed: host",
        "did you mean 'arm64-v8a'?",
    ),
    Mistake(
        "Android's ABI for this machine",
        text("[host, aarch64-linux-gnu, arm-linux-gnueabihf]", "[x86_64]"),
        "there is no Android NDK",
        "deploy.yml:3:",
        "`host` is this machine",
        "install the Android NDK",
    ),
    Mistake(
        "a misspelt platform",
        text("platform: onnx", "platform: onxx"),
        "'platform' cannot be 'onxx'",
        "deploy.yml:8:15",
        "allowed: tensorflow",
        "did you mean 'onnx'?",
    ),
    Mistake(
        "the platform of another framework",
        text("platform: onnx", "platform: tensorflow"),
        "no model of tensorflow",
        "digits.onnx, model 'digits'",
        "this is an ONNX model",
        "write platform: onnx",
    ),
    Mistake(
        "models without a name",
        text("  digits:\n", ""),
        "'platform' must be a mapping",
        "deploy.yml:7",
        "it contains keys such as",
        "indent it below the name of its model",
    ),
    Mistake(
        "no shapes",
        text('        input_shapes: ["1,1,8,8"]\n', ""),
        "the key 'input_shapes' is missing",
        "deploy.yml:12",
        "",
        "`lathe init MODEL` writes",
    ),
    Mistake(
        "shapes for more tensors",
        text('["1,1,8,8"]', '["1,1,8,8", "1,10"]'),
        "'input_shapes' holds 2 shapes for 1 tensor",
        "deploy.yml:13",
        "",
        "give one shape for each of 'input_tensors'",
    ),
    Mistake(
        "tabs",
        text("    platform", "\tplatform"),
        "this is not valid YAML",
        "deploy.yml:8:1",
        "found character '\\t'",
        "indent with spaces, not tabs",
    ),
    Mistake(
        "an unknown order of axes",
        text("NCHW", "CHWN"),
        "'input_data_formats' cannot be 'CHWN'",
        "deploy.yml:14:30",
        "allowed: NHWC, NCHW",
        "did you mean 'NCHW'?",
    ),
    Mistake(
        "a shape with x",
        text("1,1,8,8", "1x1x8x8"),
        "'1x1x8x8' is not a dimension",
        "deploy.yml:13:24",
        "a shape is a list of dimensions",
        "write it as 1,1,8,8",
    ),
    Mistake(
        "an unknown size in a shape",
        text("1,1,8,8", "-1,1,8,8"),
        "'-1' is not a dimension",
        "deploy.yml:13:24",
        "a shape is a list of dimensions",
        "write bounds",
    ),
    Mistake(
        "a shape as a list of numbers",
        text('["1,1,8,8"]', "[1, 1, 8, 8]"),
        "'input_shapes' holds 4 shapes for 1 tensor",
        "deploy.yml:13:23",
        "",
        "write a shape as one word: 1,1,8,8",
    ),
    Mistake(
        "a checksum cut short",
        text(CHECKSUM, CHECKSUM[:12]),
        "is not a SHA-256 checksum: 12 digits",
        "deploy.yml:10:28",
        "has 64 hexadecimal digits",
        "`sha256sum FILE` prints it",
    ),
    Mistake(
        "a key twice",
        text("    runtime: cpu", "    runtime: cpu\n    runtime: gpu"),
        "the key 'runtime' is given twice",
        "deploy.yml:21:5",
        "first in line 20",
        "remove one of the two lines",
    ),
    Mistake(
        "a variable that is not set",
        text("digits.onnx", "${LATHE_NO_SUCH}/digits.onnx"),
        "the environment variable 'LATHE_NO_SUCH' is not set",
        "deploy.yml:9:22",
        "",
        "export LATHE_NO_SUCH=...",
    ),
    Mistake(
        "a runtime that is not built yet",
        text("runtime: cpu", "runtime: hta"),
        "'runtime' 'hta'",
        "deploy.yml:20:14",
        "known but not built yet",
        "for now use cnn, cpu",
    ),
    Mistake(
        "real numbers for the DSP",
        text("runtime: cpu", "runtime: dsp"),
        "the runtime 'dsp' computes with integers of 8 bits, and the model is not quantised",
        "deploy.yml:20:14",
        "has `quantize: 1`",
        "`lathe quantize FILE --inputs SAMPLES`",
    ),
    Mistake(
        "no outputs",
        text("        output_tensors: [probabilities]\n", ""),
        "the key 'output_tensors' is missing",
        "deploy.yml:12",
        "",
        "`lathe init MODEL` writes",
    ),
    Mistake(
        "quantised without ranges",
        text("    data_type: fp32_fp32", "    quantize: 1"),
        "no tensor of the model has a range",
        "deploy.yml:21:15",
        "ranges come from",
        "lathe quantize FILE --inputs SAMPLES",
    ),
    Mistake(
        "a range file that does not exist",
        text("    data_type: fp32_fp32", "    quantize: 1\n    quantize_range_file: ranges.txt"),
        "there is no file './ranges.txt'",
        "deploy.yml:22:26",
        "relative paths start at",
        "correct the path, or put the file there",
    ),
    Mistake(
        "sample inputs that do not exist",
        text("    runtime: cpu", "        validation_inputs_data: [image.npy]\n    runtime: cpu"),
        "there is no file './image.npy'",
        "deploy.yml:20",
        "relative paths start at",
        "correct the path, or put the file there",
    ),
    Mistake(
        "a model from the network without a checksum",
        text(f"digits.onnx\n    model_sha256_checksum: {CHECKSUM}", "https://example.com/digits.onnx"),
        "'https://example.com/digits.onnx' has no checksum",
        "deploy.yml:9:22",
        "files from the network must have a SHA-256 checksum",
        "add the checksum",
        "build deploy.yml",
    ),
    Mistake(
        "weights in code without a graph in code",
        text("model_data_format: file", "model_data_format: code"),
        "requires `model_graph_format: code`",
        "deploy.yml:5:20",
        "a graph that is loaded from a file has its weights in a file",
        "set model_graph_format to code",
    ),
    Mistake(
        "a library named with a blank",
        text("library_name: digits", "library_name: my digits"),
        "'library_name' cannot be 'my digits'",
        "deploy.yml:2:15",
        "it is used in file names",
        "for example my_digits",
    ),
)
MODEL = (
    Mistake(
        "a misspelt name of a model",
        text("digits.onnx", "digit.onnx"),
        "there is no file './digit.onnx'",
        "deploy.yml:9:22",
        "relative paths start at",
        "did you mean 'digits.onnx'?",
    ),
    Mistake(
        "a folder as the model",
        text("digits.onnx", "samples"),
        "'./samples' is not a file",
        "deploy.yml:9:22",
        "",
        "name the file itself, not its folder",
    ),
    Mistake(
        "a model that has changed",
        made("digits.onnx", b"changed"),
        "does not match its checksum",
        "deploy.yml:9:22",
        "expected SHA-256",
        "download the correct file, or update the checksum",
    ),
    Mistake(
        "an empty model",
        model(b""),
        "the model file is empty",
        "digits.onnx, model 'digits'",
        "the file is damaged",
        "export or download it again",
    ),
    Mistake(
        "a truncated model",
        model(lambda data: data[: len(data) // 2]),
        "this is not an ONNX model",
        "digits.onnx, model 'digits'",
        "the file is damaged",
        "export or download it again",
    ),
    Mistake(
        "a Git LFS pointer",
        model(POINTER),
        "this is a pointer of Git LFS",
        "digits.onnx, model 'digits'",
        "and not the model",
        "git lfs pull",
    ),
    Mistake(
        "a page of a site",
        model(PAGE),
        "this is an HTML page",
        "digits.onnx, model 'digits'",
        "and not the model",
        "from the direct address of the file",
    ),
    Mistake(
        "a compressed model",
        model(lambda data: gzip.compress(data, mtime=0)),
        "this is a gzip archive",
        "digits.onnx, model 'digits'",
        "and not the model",
        "unpack it first: gunzip",
    ),
    Mistake(
        "a TFLite model called .onnx",
        model(TFLITE),
        "no model of onnx",
        "digits.onnx, model 'digits'",
        "this is a TensorFlow Lite model",
        "write platform: tflite",
    ),
    Mistake(
        "an ONNX model called .tflite",
        model(lambda data: data, "digits.tflite", "tflite"),
        "no model of tflite",
        "digits.tflite, model 'digits'",
        "this is an ONNX model",
        "write platform: onnx",
    ),
    Mistake(
        "text as the model",
        model(b"weights of my model\n" * 40),
        "this is not an ONNX model",
        "digits.onnx, model 'digits'",
        "not made by an ONNX exporter",
        "export or download it again",
    ),
    Mistake(
        "an unknown operator",
        model(unknown),
        "the operator NoSuchOperator",
        "digits.onnx, model 'digits'",
        "has an importer",
        "add your own operators (op_paths)",
    ),
    Mistake(
        "a wrong name of an input",
        text("[image]", "[input]"),
        "the model has no tensor 'input'",
        "deploy.yml:12:25",
        "inputs of the model: image",
        "write a name of the model",
    ),
    Mistake(
        "a wrong name of an output",
        text("[probabilities]", "[probability]"),
        "the model has no tensor 'probability'",
        "deploy.yml:16:26",
        "outputs: probabilities",
        "did you mean 'probabilities'?",
    ),
    Mistake(
        "a wrong shape",
        text("1,1,8,8", "1,1,28,28"),
        "the shape [1, 1, 28, 28], but the model has [1, 1, 8, 8]",
        "deploy.yml:13:24",
        "declared shapes are those of the model",
        "declare input_shapes that fit [1, 1, 8, 8]",
    ),
    Mistake(
        "a wrong order of axes",
        text("NCHW", "NHWC"),
        "but the model has [1, 8, 8, 1] (as NHWC)",
        "deploy.yml:13:24",
        "in the order of input_data_formats",
        "declare input_data_formats: NCHW",
    ),
    Mistake(
        "a wrong shape of an output",
        text("1,10", "1,1000"),
        "the shape [1, 1000], but the model has [1, 10]",
        "deploy.yml:17:25",
        "declared shapes are those of the model",
        "declare output_shapes that fit [1, 10]",
    ),
    Mistake(
        "Caffe without weights",
        model(b'name: "net"\ninput: "image"\n', "net.prototxt", "caffe"),
        "a Caffe model needs the key 'weight_file_path'",
        "deploy.yml:7:3",
        "",
        "name the .caffemodel file",
    ),
)
