"""A program for MACE's C++ interface, built as its users build theirs, gives what the native interface gives."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import buildtool
from buildtool.reports.documents import BuildReport
from buildtool.settings import RunSettings
from buildtool.workflow import run

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
APP = EXAMPLES / "mace-app" / "app.cc"
COMPILERS = {"host": "c++", "aarch64-linux-gnu": "aarch64-linux-gnu-g++"}
EMULATORS = {"host": [], "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}
ABIS = ["host", pytest.param("aarch64-linux-gnu", marks=pytest.mark.arm)]
STRICT = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]


def call(command: Sequence[str | Path], expected: int = 0, **environment: str) -> str:
    """What a program says on stdout; its exit code is as expected."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("form", ["file", "code"])
def test_the_app_gives_what_the_native_interface_gives(form: str, abi: str, tmp_path: Path) -> None:
    picture = np.load(EXAMPLES / "digits" / "pictures.npy")[7].reshape(1, 8, 8, 1).astype(np.float32)
    picture.tofile(tmp_path / "in.bin")
    np.save(tmp_path / "image.npy", picture)
    overrides = buildtool.Overrides((abi,), model_graph_format=form, model_data_format=form, mace_compat="1")
    options = buildtool.Options(tmp_path / "build")
    settings = RunSettings(inputs={"image": tmp_path / "image.npy"}, output_folder=tmp_path / "native")
    run(EXAMPLES / "mace-app" / "deploy.yml", overrides, options, settings)
    (native,) = (tmp_path / "native").rglob("*.npy")

    built = tmp_path / "build" / "digits"
    libraries = built / "lib" / abi
    assert sorted(file.name for file in libraries.iterdir()) == ["libmace.a", "libmace.so"]
    app, out = tmp_path / "app", tmp_path / "out.bin"
    command: list[str | Path] = [COMPILERS[abi], *STRICT, f"-I{built / 'include'}", APP, "-o", app]
    started: list[str | Path] = [*EMULATORS[abi]]
    arguments: list[str | Path] = [tmp_path / "in.bin", out]
    if form == "code":
        call([*command, "-DMODEL_GRAPH_FORMAT_CODE", libraries / "libmace.a", "-lpthread"])
    else:
        call([*command, f"-L{libraries}", "-lmace"])
        started += ["-E", f"LD_LIBRARY_PATH={libraries}"] if started else ["env", f"LD_LIBRARY_PATH={libraries}"]
        for kind in ("pb", "data"):
            contents = np.fromfile(built / "model" / abi / f"digits.{kind}", np.uint8)
            (contents ^ 90).tofile(tmp_path / f"secret.{kind}")
            arguments.append(tmp_path / f"secret.{kind}")
        arguments.append("90")
    said = call([*started, app, *arguments])
    assert np.array_equal(np.fromfile(out, np.uint32), np.load(native).view(np.uint32).ravel())
    assert "FullyConnected [1, 10]" in said
    out.unlink()
    warned = call([*started, app, *arguments, "GPU"])
    assert "DeviceType::GPU, and the CPU computes" in warned
    assert np.array_equal(np.fromfile(out, np.uint32), np.load(native).view(np.uint32).ravel())
    assert call([*started, app, *arguments, "GPU"], MACE_CPP_MIN_LOG_LEVEL="ERROR") == ""
    if form == "file":
        assert "Invalid Arguments: bad model" in call([*started, app, *arguments[:-1], "91"], 3)


def library(folder: Path, name: str, models: dict[str, str]) -> BuildReport:
    """A library with models as code, each of one operator over two numbers."""
    lines = [f"library_name: {name}", "mace_compat: headers", "model_graph_format: code", "model_data_format: code"]
    lines.append("models:")
    for model, operator in models.items():
        x, y = (helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [2]) for tensor in "xy")
        graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", [x], [y])
        file = folder / f"{name}_{model}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9), file)
        lines.append(f"  {model}: {{platform: onnx, model_file_path: {file.name}, data_type: fp32_fp32,")
        lines.append("    input_tensors: x, input_shapes: 2, output_tensors: y, output_shapes: 2}")
    deployment = folder / f"{name}.yml"
    deployment.write_text("\n".join(lines) + "\n")
    return buildtool.build(deployment, options=buildtool.Options(folder / "build"))


# Each file knows one library, and its `net` is that library's; `both.cc` knows both and tells what is unclear.
ONE = """
#include "mace/public/mace_engine_factory.h"
#include "run.h"
float {name}() {{ return Run([](const Config& c, Engine* e) {{
  return mace::CreateMaceEngineFromCode("net", nullptr, 0, {{"x"}}, {{"y"}}, c, e); }}); }}
"""
RUN = """
#include "mace/public/mace.h"
#include <functional>
using Config = mace::MaceEngineConfig;
using Engine = std::shared_ptr<mace::MaceEngine>;
inline float Run(const std::function<mace::MaceStatus(const Config&, Engine*)>& create) {
  Config config(mace::CPU);
  Engine engine;
  if (create(config, &engine) != mace::MaceStatus::MACE_SUCCESS) return -1000;
  std::shared_ptr<float> in(new float[2]{3, 4}, std::default_delete<float[]>());
  std::shared_ptr<float> out(new float[2]{0, 0}, std::default_delete<float[]>());
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["x"] = mace::MaceTensor({2}, in, mace::DataFormat::NONE);
  outputs["y"] = mace::MaceTensor({2}, out, mace::DataFormat::NONE);
  return engine->Run(inputs, &outputs) == mace::MaceStatus::MACE_SUCCESS ? out.get()[1] : -2000;
}
"""
BOTH = """
#include "one/include/mace/public/mace_engine_factory.h"
#include "two/include/mace/public/mace_engine_factory.h"
#include <cstdio>
namespace mace {  // as programs of MACE declare them
const unsigned char* LoadOpenCLBinary();
size_t OpenCLBinarySize();
const unsigned char* LoadOpenCLParameter();
size_t OpenCLParameterSize();
}
#include "run.h"
float one();
float two();
float Named(const char* name) { return Run([=](const Config& c, Engine* e) {
  return mace::CreateMaceEngineFromCode(name, nullptr, 0, {"x"}, {"y"}, c, e); }); }
int main() {
  mace::GPUContextBuilder gpu;
  gpu.SetOpenCLBinary(mace::LoadOpenCLBinary(), mace::OpenCLBinarySize());
  gpu.SetOpenCLParameter(mace::LoadOpenCLParameter(), mace::OpenCLParameterSize());
  Config config(mace::GPU);
  config.SetGPUContext(gpu.Finalize());
  std::shared_ptr<mace::MaceEngine> engine;
  const auto net = mace::only_two::CreateNet();
  engine.reset(new mace::MaceEngine(Config(mace::CPU)));
  const bool made = engine->Init(net.get(), {"x"}, {"y"}, mace::only_two::LoadModelData(),
                                 mace::only_two::GetModelSize()) == mace::MaceStatus::MACE_SUCCESS;
  std::printf("%g %g %g %g %g %d\\n", one(), two(), Named("only_one"), Named("only_two"), Named("net"), made);
}
"""


@pytest.mark.slow
def test_two_factories_stand_in_one_program(tmp_path: Path) -> None:
    kinds = {"one": {"net": "Neg", "only_one": "Relu"}, "two": {"net": "Abs", "only_two": "Sqrt"}}
    built = {name: library(tmp_path, name, models).folder for name, models in kinds.items()}
    (tmp_path / "run.h").write_text(RUN)
    (tmp_path / "both.cc").write_text(BOTH)
    objects: list[Path] = []
    for name in (*built, "both"):
        source = tmp_path / f"{name}.cc"
        if name in built:
            source.write_text(ONE.format(name=name))
        folders = [built[name]] if name in built else list(built.values())
        includes = [f"-I{folder / 'include'}" for folder in folders]
        objects.append(source.with_suffix(".o"))
        call(["c++", *STRICT, *includes, f"-I{tmp_path / 'build'}", "-c", source, "-o", objects[-1]])
    for kind in ("a", "so"):
        files = [folder / "lib" / "host" / f"lib{name}.{kind}" for name, folder in built.items()]
        program = tmp_path / f"program_{kind}"
        paths = [f"-Wl,-rpath,{file.parent}" for file in files]
        call(["c++", *objects, *files, *paths, "-lpthread", "-o", program])
        assert call([program]) == "-4 4 4 2 -1000 1\n"
