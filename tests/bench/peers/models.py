"""The networks in the form that each engine takes, made on first need under `build/bench-peers`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import onnx

import buildtool
from buildtool.drafts import deployment
from tests.bench.peers.environment import ROOT, Environment
from tests.bench.peers.suites import FOLDER, SIZE, SUITES, Suite


def path_of(engine: str, network: str, environment: Environment, suite: Suite, dtype: str = "fp32") -> Path:
    """The file that the engine loads: for Lathe the tailored library, which knows where its model is."""
    if engine == "lathe_fp32":
        return library(network, suite.file(network))
    if engine == "litert":
        return _litert(network, suite, environment, dtype)
    file = suite.quantised(network) if dtype == "int8" else suite.file(network)
    if engine == "lathe":
        return library(f"{network}_int8" if dtype == "int8" else network, file)
    if engine == "ncnn":
        return _ncnn(network, file, environment)
    if engine == "mnn":
        return _mnn(network, file, environment)
    return file


def library(name: str, onnx_file: Path) -> Path:
    """Built anew each time, since its kernels are what changes; unchanged ones come from the cache."""
    folder = FOLDER / "lathe"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yml"
    file.write_text(deployment.write([onnx_file], relative_to=folder, library_name=name, data_type="fp32_fp32"))
    built = buildtool.build(file, options=buildtool.Options(folder / "build"))
    return built.file_of("host", "shared")


def _litert(network: str, suite: Suite, environment: Environment, dtype: str) -> Path:
    """In 8 bits by its own quantiser."""
    if suite is not SUITES["zoo"]:
        raise RuntimeError("only the networks of the zoo are written in its format")
    real = _tflite(network, suite.file(network), environment)
    if dtype == "fp32":
        return real
    return _made_by("quantise_tflite.py", real, real.with_name(f"{real.stem}-int8.tflite"), environment)


def _made_by(script: str, source: Path, target: Path, environment: Environment) -> Path:
    if not target.exists():
        aside = target.with_suffix(f".{os.getpid()}")
        _command([str(environment.python), str(Path(__file__).with_name(script)), str(source), str(aside)], ROOT)
        aside.replace(target)
    return target


def _ncnn(network: str, file: Path, environment: Environment) -> Path:
    target = FOLDER / "ncnn" / f"{network}.param"
    if target.exists() and target.stat().st_mtime > file.stat().st_mtime:
        return target
    converter = environment.site_packages() / "pnnx" / "pnnx"
    scratch = FOLDER / "ncnn" / f"scratch-{os.getpid()}"
    scratch.mkdir(parents=True)
    shutil.copy(file, scratch / "model.onnx")
    shapes = ",".join(_shapes(file))
    try:
        _command([str(converter), "model.onnx", f"inputshape={shapes}", "fp16=0"], scratch)
        if not (scratch / "model.ncnn.bin").is_file():
            raise RuntimeError("its converter wrote no file")
        (scratch / "model.ncnn.bin").replace(target.with_suffix(".bin"))
        (scratch / "model.ncnn.param").replace(target)
    finally:
        shutil.rmtree(scratch)
    return target


def _shapes(file: Path) -> list[str]:
    """As pnnx takes them."""
    graph = onnx.load(file, load_external_data=False).graph
    known = {tensor.name for tensor in graph.initializer}
    found = []
    for value in graph.input:
        if value.name in known:
            continue
        sizes = ",".join(str(size.dim_value) for size in value.type.tensor_type.shape.dim)
        kind = "i64" if value.type.tensor_type.elem_type == onnx.TensorProto.INT64 else ""
        found.append(f"[{sizes}]{kind}")
    return found


def _mnn(network: str, file: Path, environment: Environment) -> Path:
    """Beside it a list of the outputs in their order, which its sessions do not keep."""
    target = FOLDER / "mnn" / f"{network}.mnn"
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and target.stat().st_mtime < file.stat().st_mtime:
        target.unlink()
    outputs = [value.name for value in onnx.load(file, load_external_data=False).graph.output]
    target.with_suffix(".json").write_text(json.dumps(outputs))
    return _made_by("convert_mnn.py", file, target, environment)


def _tflite(network: str, onnx: Path, environment: Environment) -> Path:
    writer = Path(__file__).with_name("tflite.py")
    key = hashlib.sha256(writer.read_bytes()).hexdigest()[:10]
    target = FOLDER / "litert" / f"{onnx.stem}-{key}.tflite"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_suffix(f".{os.getpid()}")
        module = "tests.bench.peers.tflite"
        _command([str(environment.python), "-m", module, network, str(aside), "--size", str(SIZE)], ROOT)
        aside.replace(target)
    return target


def _command(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
