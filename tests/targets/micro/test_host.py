"""The portable kernels on this machine, under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.errors import UnsupportedError
from buildtool.requests import deployments
from buildtool.settings import BenchSettings, Options, Overrides, RunSettings
from buildtool.targets.micro import reference
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS
from buildtool.workflow import benchmarking, building, running
from tests.targets.micro.boards import WARNINGS
from tests.targets.micro.quantised_models import images, inputs_of, network_of, rearranged, wide

_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")


@pytest.mark.slow
@pytest.mark.parametrize("make", [images, wide, rearranged])
def test_no_kernel_leaves_its_memory(make: object, tmp_path: Path) -> None:
    assert callable(make)
    check_on_this_machine(network_of(make(8), tmp_path), tmp_path)


def check_on_this_machine(network: Network, folder: Path) -> None:
    """Compiled with sanitizers: the outputs are those of the reference."""
    memory = plan(network, "portable")
    sources = files.kernels([network], PROCESSORS["cortex-m3"])
    sources |= {
        "m.h": model.header(network, memory).encode(),
        "m.c": model.source(network, memory, "portable").encode(),
    }
    sources["harness.c"] = emulated.harness(network, memory)
    for name, data in sources.items():
        (folder / name).write_bytes(data)
    units = [name for name in sources if name.endswith(".c")]
    include = f"-I{resources.native_dir() / 'micro' / 'emulator'}"
    main = str(Path(__file__).with_name("host_main.c"))
    command = ["gcc", *WARNINGS, *_SANITIZED, "-std=gnu99", "-I.", include, *units, main, "-o", "host"]
    subprocess.run(command, cwd=folder, check=True)
    inputs = inputs_of(network, 9)
    given = b"".join(array.tobytes() for array in inputs.values())
    done = subprocess.run(["./host"], cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    expected = b"".join(np.ascontiguousarray(each).tobytes() for each in reference.evaluate(network, inputs).values())
    assert done.stdout == expected


def test_xtensa_gets_sources_that_any_compiler_takes(tmp_path: Path) -> None:
    """Nothing is compiled for it: here the compiler of this machine takes the files of a build."""
    (tmp_path / "m.tflite").write_bytes(images(8))
    about = 'input_tensors: [t0]\n    input_shapes: ["1,17,13,3"]\n    input_data_types: [int8]\n'
    network = network_of(images(8), tmp_path)
    (output,) = network.outputs
    shape = ",".join(str(size) for size in output.shape)
    about += f'    output_tensors: [{output.name}]\n    output_shapes: ["{shape}"]\n    output_data_types: [int8]\n'
    head = "library_name: m\ntarget_abis: [xtensa-generic]\nmodels:\n  m:\n    platform: tflite\n"
    text = f"{head}    model_file_path: m.tflite\n    {about}    runtime: cpu\n"
    (tmp_path / "m.yml").write_text(text)
    report = building.build(tmp_path / "m.yml", Overrides(), Options(output=tmp_path / "build"))
    folder = report.folder / "lib" / "xtensa-generic"
    assert [path.name for path in folder.iterdir()] == ["m"]
    assert "CC := xtensa-esp-elf-gcc" in (folder / "m" / "Makefile").read_text()
    command = ["make", "-C", str(folder / "m"), "CC=gcc", "AR=gcc-ar", "CFLAGS=-Wall -Werror -std=gnu99"]
    subprocess.run(command, check=True, capture_output=True)
    assert (folder / "m" / "build" / "libm.a").is_file()
    with pytest.raises(UnsupportedError, match="nothing is executed for xtensa-generic"):
        running.run(tmp_path / "m.yml", Overrides(), Options(output=tmp_path / "build"), RunSettings())


def _deployment(folder: Path, abis: str, more: str = "") -> Path:
    (folder / "m.tflite").write_bytes(images(8))
    network = network_of(images(8), folder)
    (output,) = network.outputs
    shape = ",".join(str(size) for size in output.shape)
    about = 'input_tensors: [t0]\n    input_shapes: ["1,17,13,3"]\n    input_data_types: [int8]\n'
    about += f'    output_tensors: [{output.name}]\n    output_shapes: ["{shape}"]\n    output_data_types: [int8]\n'
    head = f"library_name: m\ntarget_abis: [{abis}]\nmodels:\n  m:\n    platform: tflite\n"
    text = f"{head}    model_file_path: m.tflite\n    {about}    runtime: cpu\n{more}"
    (folder / "m.yml").write_text(text)
    return folder / "m.yml"


@pytest.mark.parametrize(("abis", "more"), [("host, xtensa-generic", ""), ("host", "    micro: {backend: cmsis}\n")])
def test_host_is_c_beside_a_microcontroller_and_with_the_mapping(abis: str, more: str, tmp_path: Path) -> None:
    file = _deployment(tmp_path, abis, more)
    report = building.build(file, Overrides(), Options(output=tmp_path / "build"))
    folder = report.folder / "lib" / "host"
    assert (folder / "libm.a").is_file() and (folder / "m" / "src" / "m.c").is_file()
    assert "CC := gcc" in (folder / "m" / "Makefile").read_text()
    if not more:
        return
    options = Options(output=tmp_path / "build")
    validated = running.validate(file, Overrides(), options, RunSettings())
    assert validated.passed and validated.as_json()["results"]
    (counted,) = benchmarking.bench(file, Overrides(), options, RunSettings(), BenchSettings()).emulated
    assert counted["nanoseconds"] > 0 and counted["code_bytes"] > 0 and "instructions" not in counted


def test_host_alone_is_a_cpu_library(tmp_path: Path) -> None:
    loaded = deployments.load_deployment(_deployment(tmp_path, "host"))
    assert deployments.target_of(loaded).name == "cpu"
