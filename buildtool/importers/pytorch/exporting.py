"""Starts the process in which PyTorch writes a program as ONNX: in a jail, where its code is not trusted."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool import jail
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.pytorch.contents import verify
from buildtool.importers.pytorch.files import Kind
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.types import DType

PYTHON = sys.executable
_SCRIPT = Path(__file__).with_name("torch_process.py")
_NEEDED = ("torch", "onnx", "onnxscript")
_SECONDS = 900  # where the code is trusted
_TRUST = "if you trust its author, --trust-model-code gives it to PyTorch"
#: What PyTorch may take for each byte of the file beyond what it takes for any.
_MEMORY_PER_BYTE, _WRITTEN_PER_BYTE = 4, 4
_SECONDS_PER_MEBIBYTE = 30  # of its graph or code: 24 layers of a transformer have 1.3 MiB, and take 31 s altogether

_WORDS = {
    DType.F32: "float32",
    DType.F16: "float16",
    DType.BF16: "bfloat16",
    DType.F64: "float64",
    DType.S8: "int8",
    DType.U8: "uint8",
    DType.S16: "int16",
    DType.S32: "int32",
    DType.S64: "int64",
    DType.BOOL: "bool",
}


def export(kind: Kind, request: ImportRequest, target: Path, where: Where) -> None:
    """Write the program as ONNX. UnsupportedError where PyTorch or a jail is missing, ModelFileError where the program
    is not only data, or where PyTorch has objections.
    """
    described = 0 if request.trust_model_code else verify(request.model_file, where)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UnsupportedError(
            f"importing PyTorch's programs takes the package{'s' * (len(missing) > 1)} {', '.join(missing)}",
            where=where,
            rule="PyTorch itself turns the program into ONNX",
            remedy=f"pip install {' '.join(missing)}, or export the model to ONNX on another machine",
        )
    inputs = [_input(tensor, where) for tensor in request.inputs] if kind is Kind.SCRIPT else []
    if kind is Kind.SCRIPT and not inputs:
        raise ModelFileError(
            "a TorchScript file does not say which shapes its inputs have",
            where=where,
            remedy="declare input_tensors and input_shapes (their names are those of the arguments of `forward`)",
        )
    order = {"file": str(request.model_file.absolute()), "kind": kind.value, "inputs": inputs, "target": str(target)}
    ended = _run(request, json.dumps(order), target, _limits(request.model_file, described), where)
    if ended.exceeded:
        raise ModelFileError(
            f"PyTorch took more than {ended.exceeded} to write it as ONNX",
            where=where,
            rule="the code in a program may use so much and no more",
            remedy="" if request.trust_model_code else f"{_TRUST} without this limit",
        )
    if ended.code or not target.stat().st_size:
        raise ModelFileError(
            f"PyTorch cannot write this program as ONNX: {_reason(ended)}",
            where=where,
            remedy="try torch.onnx.export yourself, where the model's Python code is, and build from the ONNX file",
        )


def _limits(file: Path, described: int) -> jail.Limits:
    """What any program may use up, and more in proportion to its size."""
    most, size = jail.DEFAULT_LIMITS, file.stat().st_size
    more = described * _SECONDS_PER_MEBIBYTE >> 20
    return replace(
        most,
        processor_seconds=most.processor_seconds + more,
        seconds=most.seconds + 5 * more,
        memory=most.memory + _MEMORY_PER_BYTE * size,
        written=most.written + _WRITTEN_PER_BYTE * size,
    )


def _run(request: ImportRequest, order: str, target: Path, limits: jail.Limits, where: Where) -> jail.Ended:
    if request.trust_model_code:
        target.write_bytes(b"")
        return jail.run_unguarded(_SCRIPT, [order], seconds=_SECONDS, python=PYTHON)
    made = [target, target.with_name(f"{target.name}.data")]  # PyTorch puts more than 2 GiB of weights beside the graph
    try:
        return jail.run(_SCRIPT, [order], read=[request.model_file], write=made, limits=limits, python=PYTHON)
    except jail.NoJailError as problem:
        raise UnsupportedError(
            f"PyTorch's programs are read in a jail, and there is none here: {problem}",
            where=where,
            rule="PyTorch executes code of a program; what does that is kept from files, network and processes, which "
            "takes Linux 5.13 on x86-64 or aarch64, with Landlock and seccomp",
            remedy=f"{_TRUST} with all the rights that you have; or export the model to ONNX on another machine",
        ) from None


def _input(tensor: TensorRequest, where: Where) -> dict[str, Any]:
    """An example in the order that the program has, which is channels first."""
    if tensor.shape is None:
        raise ModelFileError(
            f"the shape of the input '{tensor.name}' is not declared",
            where=where if tensor.where.file is None else tensor.where,
            remedy="declare input_shapes: a TorchScript file does not hold them",
        )
    shape = list(tensor.shape)
    if tensor.data_format == "NHWC" and len(shape) == 4:
        shape = [shape[axis] for axis in (0, 3, 1, 2)]
    return {
        "name": tensor.name,
        "shape": [size if isinstance(size, int) else size[1] for size in shape],
        "bounded": [axis for axis, size in enumerate(shape) if not isinstance(size, int)],
        "dtype": _WORDS[tensor.dtype or DType.F32],
    }


def _reason(ended: jail.Ended) -> str:
    """What the process said last, in one line."""
    if ended.code < 0:
        return f"its process was ended by signal {-ended.code}"
    return ended.last_words or f"its process ended with exit code {ended.code}"
