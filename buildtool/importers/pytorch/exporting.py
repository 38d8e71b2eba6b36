"""Starts the process in which PyTorch writes a program as ONNX."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.pytorch.files import Kind
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.types import DType

PYTHON = sys.executable
_SCRIPT = Path(__file__).with_name("torch_process.py")
_NEEDED = ("torch", "onnx", "onnxscript")
_SECONDS = 900

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
    """Write the program as ONNX. UnsupportedError where PyTorch is missing, ModelFileError where it has objections."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UnsupportedError(
            f"importing PyTorch's programs takes the package{'s' * (len(missing) > 1)} {', '.join(missing)}",
            where=where,
            rule="PyTorch itself turns the program into ONNX",
            remedy=f"pip install {' '.join(missing)}, or export the model to ONNX elsewhere",
        )
    inputs = [_input(tensor, where) for tensor in request.inputs] if kind is Kind.SCRIPT else []
    if kind is Kind.SCRIPT and not inputs:
        raise ModelFileError(
            "a TorchScript file does not say which shapes its inputs have",
            where=where,
            remedy="declare input_tensors and input_shapes (their names are those of the arguments of `forward`)",
        )
    order = {"file": str(request.model_file.absolute()), "kind": kind.value, "inputs": inputs, "target": str(target)}
    command = [PYTHON, "-I", str(_SCRIPT), json.dumps(order)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise ModelFileError(f"PyTorch took more than {_SECONDS} seconds to write it as ONNX", where=where) from None
    if done.returncode or not target.is_file():
        raise ModelFileError(
            f"PyTorch cannot write this program as ONNX: {_reason(done)}",
            where=where,
            remedy="try torch.onnx.export yourself, where the model's Python code is, and build from the ONNX file",
        )


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


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """What the process said last, in one line."""
    if done.returncode < 0:
        return f"its process was ended by signal {-done.returncode}"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"its process ended with exit code {done.returncode}"
