"""The networks of the zoo in the form that each engine takes, made on first need under `build/bench-peers`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import buildtool
from buildtool.drafts import deployment
from tests.bench.peers.environment import ROOT, Environment
from tests.zoo.networks import cached
from tests.zoo.quantised import quantised

FOLDER = ROOT / "build" / "bench-peers"
SIZE = 224


def path_of(engine: str, network: str, environment: Environment, dtype: str = "fp32") -> Path:
    """The file that the engine loads: for Lathe the tailored library, which knows where its model is."""
    if engine == "lathe_fp32":
        return library(network)
    if dtype == "int8":
        return _in_bytes(engine, network, environment)
    if engine == "lathe":
        return library(network)
    onnx = cached(network, FOLDER / "onnx", SIZE)
    if engine == "ncnn":
        return _ncnn(onnx, environment)
    if engine == "litert":
        return _tflite(network, onnx, environment)
    return onnx


def _in_bytes(engine: str, network: str, environment: Environment) -> Path:
    """The network in 8 bits: for LiteRT by its own quantiser, for the others by that of onnxruntime."""
    if engine == "litert":
        real = _tflite(network, cached(network, FOLDER / "onnx", SIZE), environment)
        return _made_by("quantise_tflite.py", real, real.with_name(f"{real.stem}-int8.tflite"), environment)
    file = quantised(network, FOLDER / "onnx", SIZE)
    return library(network, file, quantize=1) if engine == "lathe" else file


def _made_by(script: str, source: Path, target: Path, environment: Environment) -> Path:
    if not target.exists():
        aside = target.with_suffix(f".{os.getpid()}")
        _command([str(environment.python), str(Path(__file__).with_name(script)), str(source), str(aside)], ROOT)
        aside.replace(target)
    return target


def library(network: str, onnx: Path | None = None, quantize: int = 0) -> Path:
    """Built anew each time, since its kernels are what changes; unchanged ones come from the cache."""
    onnx = onnx or cached(network, FOLDER / "onnx", SIZE)
    folder = FOLDER / "lathe"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{network}_int8" if quantize else network
    text = deployment.write([onnx], relative_to=folder, library_name=name, data_type="fp32_fp32")
    file = folder / f"{name}.yml"
    file.write_text(text.replace("    data_type:", f"    quantize: {quantize}\n    data_type:"))
    built = buildtool.build(file, options=buildtool.Options(folder / "build"))
    return built.file_of("host", "shared")


def _ncnn(onnx: Path, environment: Environment) -> Path:
    target = FOLDER / "ncnn" / f"{onnx.stem}.param"
    if target.exists() and target.with_suffix(".bin").exists():
        return target
    converter = environment.site_packages() / "pnnx" / "pnnx"
    scratch = FOLDER / "ncnn" / f"scratch-{os.getpid()}"
    scratch.mkdir(parents=True)
    shutil.copy(onnx, scratch / "model.onnx")
    _command([str(converter), "model.onnx", f"inputshape=[1,3,{SIZE},{SIZE}]", "fp16=0"], scratch)
    (scratch / "model.ncnn.bin").replace(target.with_suffix(".bin"))
    (scratch / "model.ncnn.param").replace(target)
    shutil.rmtree(scratch)
    return target


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
