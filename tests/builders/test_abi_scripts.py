"""cmake/build-<abi>.sh and the presets: the library with all operators."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.builders import android, android_check, elf
from buildtool.builders.objects import ObjectCache
from buildtool.builders.toolchain import cmake_program, ninja_program
from buildtool.codegen import container
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.plan import manifest
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from buildtool.targets.cpu.capabilities import CPU
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, on_device
from tests.wheels import FOLDER

ABIS = ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu", "arm64-v8a", "armeabi-v7a", "x86_64")


def script(abi: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script of an ABI in a folder, with just these of its variables."""
    programs = [cmake_program().parent, ninja_program().parent, os.environ["PATH"]]
    environment = {"PATH": os.pathsep.join(map(str, programs)), "HOME": str(folder), **variables}
    file = resources.cmake_dir() / f"build-{abi}.sh"
    return subprocess.run([file], cwd=folder, env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("abi", ABIS)
def test_every_abi_has_a_script_and_presets(abi: str) -> None:
    assert os.access(resources.cmake_dir() / f"build-{abi}.sh", os.X_OK)
    presets = json.loads((resources.native_dir() / "CMakePresets.json").read_text())
    configured = {preset["name"]: preset for preset in presets["configurePresets"]}
    toolchain = configured[abi]["toolchainFile"].replace("${sourceDir}", str(resources.native_dir()))
    assert Path(toolchain).resolve() == (resources.toolchains_dir() / f"{abi}.cmake").resolve()
    assert abi in {preset["configurePreset"] for preset in presets["buildPresets"]}


@pytest.mark.parametrize(
    ("variables", "remedy"),
    [
        ({"RUNTIME": "HEXAGON"}, "leave out RUNTIME, or set it to CPU or GPU"),
        ({"QUANTIZE": "int8"}, "leave out QUANTIZE"),
        ({"RUNTIME": "GPU", "RUNMODE": "code"}, "--model-graph-format code"),
        ({"RUNMODE": "code"}, "--model-graph-format code"),
        ({"RUNMODE": "fast"}, "leave out RUNMODE"),
    ],
)
def test_unsupported_variables_are_refused_with_a_remedy(
    tmp_path: Path, variables: dict[str, str], remedy: str
) -> None:
    done = script("host", tmp_path, **variables)
    assert done.returncode == 2
    assert remedy in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("abi", android.ABIS)
def test_android_needs_its_ndk(abi: str, tmp_path: Path) -> None:
    for home in ({}, {"ANDROID_NDK_HOME": str(tmp_path)}):
        done = script(abi, tmp_path, **home)
        assert done.returncode == 2
        assert "install the NDK (r21 or later) and set ANDROID_NDK_HOME" in done.stderr
    command: list[str | Path] = [cmake_program(), "-S", resources.native_dir(), "--preset", abi, "-B", tmp_path / "b"]
    environment = {"PATH": f"{ninja_program().parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode != 0
    assert "ANDROID_NDK_HOME is not the folder of an Android NDK" in " ".join(done.stderr.split())


@pytest.mark.sweep
@pytest.mark.parametrize("abi", ["host", *(pytest.param(abi, marks=pytest.mark.arm) for abi in ABIS[1:3])])
def test_the_library_with_all_operators(abi: str, tmp_path: Path) -> None:
    folder = FOLDER.parent / "all-operators" / abi  # kept: compiling everything takes minutes
    folder.mkdir(parents=True, exist_ok=True)
    done = script(abi, tmp_path, BUILD_DIR=str(folder), RUNTIME="CPU", QUANTIZE="OFF", RUNMODE="file")
    assert done.returncode == 0, done.stdout + done.stderr
    library = folder / "install" / "lib" / "liblathe_full.so"
    info = elf.inspect_library(library)
    assert info.exported == ("lathe_api_lathe_full",)
    assert all(name.startswith(("libc.so", "libm.so", "libpthread.so", "ld-linux")) for name in info.needed)
    vision = elf.inspect_library(library.with_name("liblathe_vision.so"))
    assert vision.exported == ("lathe_vision_functions",)
    assert (folder / "install" / "include" / "lathe" / "lathe_full.h").is_file()
    assert (folder / "install" / "include" / "lathe" / "engine.h").is_file()
    if abi == "host":
        isas = CPU.abis["host"].isas
        assert set(Library(library).kernels) == {kernel.name for kernel in manifest.load() if kernel.isa in isas}


@pytest.mark.sweep
@pytest.mark.opencl
def test_the_library_with_all_operators_for_gpus(tmp_path: Path) -> None:
    folder = FOLDER.parent / "all-operators" / "host-gpu"
    done = script("host", tmp_path, BUILD_DIR=str(folder), RUNTIME="GPU", PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    library = folder / "install" / "lib" / "liblathe_full.so"
    operator = LeakyRelu(0.1)
    pixels = np.linspace(-1, 1, 30, dtype=np.float32).reshape(1, 2, 3, 5)
    files = container.write(on_device(case_graph(operator, (pixels,), frozenset()), Mode()), name="case")
    engine = Library(library, "lathe_full").engine(
        model=files.model, data=files.data, device=DeviceOptions(kind=DeviceKind.GPU)
    )
    (found,) = engine.run({"x0": pixels}).values()
    np.testing.assert_allclose(found, operator.reference(pixels)[0], rtol=1e-6)


@pytest.mark.sweep
def test_the_library_with_all_operators_for_android(cache: ObjectCache, tmp_path: Path) -> None:
    folder = FOLDER.parent / "all-operators" / "arm64-v8a"
    folder.mkdir(parents=True, exist_ok=True)
    ndk = android_check.stand_in(cache)
    done = script("arm64-v8a", tmp_path, BUILD_DIR=str(folder), ANDROID_NDK_HOME=str(ndk))
    assert done.returncode == 0, done.stdout + done.stderr
    library = folder / "install" / "lib" / "liblathe_full.so"
    android.check_library(library)
    assert elf.inspect_library(library).exported == ("lathe_api_lathe_full",)


def test_a_script_refuses_an_ndk_that_is_too_old(tmp_path: Path) -> None:
    (tmp_path / "build" / "cmake").mkdir(parents=True)
    (tmp_path / "build" / "cmake" / "android.toolchain.cmake").touch()
    (tmp_path / "source.properties").write_text("Pkg.Revision = 20.0.1\n")
    done = script("arm64-v8a", tmp_path, ANDROID_NDK_HOME=str(tmp_path))
    assert done.returncode != 0
    assert "names an NDK older than r21: install one (r21 or later)" in " ".join(done.stderr.split())
