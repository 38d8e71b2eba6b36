"""examples/cmake-app outside of the tree, with an installed wheel: the commands of the page, what is built again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from buildtool.builders.toolchain import cmake_program, ninja_program
from tests.packaging.conftest import ROOT, Environment

pytestmark = pytest.mark.slow

STEP = re.compile(r"^\[\d+/\d+\] (.*)$", re.MULTILINE)
CONSUMER = """
cmake_minimum_required(VERSION 3.21)
project(Consumer LANGUAGES CXX)
find_package(digits 1.2 CONFIG REQUIRED)
add_executable(app app.cc)
target_link_libraries(app PRIVATE digits)
get_target_property(models digits LATHE_MODEL_DIR)
file(GLOB found ${models}/digits.pb ${models}/digits.data)
list(LENGTH found count)
message(STATUS "model files: ${count}")
"""
PROGRAM = """
#include "lathe/digits.h"
#include "lathe/engine.h"
int main(int, char** argv) {
  lathe::EngineOptions options;
  options.model_path = std::string(argv[1]) + "/digits.pb";
  options.data_path = std::string(argv[1]) + "/digits.data";
  return lathe::Engine::Create(lathe_api_digits(), options).ok() ? 0 : 1;
}
"""
FETCHED = """
cmake_minimum_required(VERSION 3.24)
project(Fetched LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(Lathe SOURCE_DIR ${LATHE_SOURCE})
FetchContent_MakeAvailable(Lathe)
lathe_add_library(contrast STATIC EMBED DEPLOYMENT contrast.yml OPS operators)
file(WRITE ${CMAKE_BINARY_DIR}/app.cc [[
#include "lathe/contrast.h"
#include "lathe/engine.h"
int main() { return lathe::Engine::Create(lathe_api_contrast()).ok() ? 0 : 1; }
]])
add_executable(app ${CMAKE_BINARY_DIR}/app.cc)
target_link_libraries(app PRIVATE contrast)
"""


@dataclass(frozen=True)
class App:
    """A copy of the example, and the environment of somebody who has installed the wheel."""

    folder: Path
    variables: dict[str, str]

    def shell(self, commands: str, folder: Path | None = None) -> str:
        """What the commands say. A failure shows it all."""
        done = subprocess.run(
            ["sh", "-ec", commands],
            cwd=folder or self.folder,
            env=self.variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def steps(self) -> list[str]:
        """What a build runs."""
        return sorted(STEP.findall(self.shell("cmake --build --preset host")))


def documented(word: str) -> str:
    """The block of commands of docs/how-to/cmake.md that names this preset."""
    page = (ROOT / "docs" / "how-to" / "cmake.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (found,) = [block for block in blocks if f"cmake --preset {word}" in block]
    return str(found)


@pytest.fixture(scope="module")
def app(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> App:
    folder = tmp_path_factory.mktemp("app")
    for name in ("cmake-app", "digits"):
        shutil.copytree(ROOT / "examples" / name, folder / name, ignore=shutil.ignore_patterns("build", "__pycache__"))
    programs = [environment.python.parent, cmake_program().parent, ninja_program().parent]
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CXX", "CC")}
    variables["PATH"] = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    return App(folder / "cmake-app", variables)


@pytest.fixture(scope="module")
def built(app: App) -> App:
    """After the commands of the page."""
    app.shell(documented("host"))
    return app


def test_the_app_reads_what_onnxruntime_reads(built: App, tmp_path: Path) -> None:
    assert (built.folder / "installed" / "bin" / "read_digit").is_file()
    session = onnxruntime.InferenceSession(ROOT / "examples" / "digits" / "digits.onnx")
    for picture in np.load(ROOT / "examples" / "digits" / "pictures.npy")[:5]:
        clear = picture * picture * (3 - 2 * picture)
        expected = session.run(None, {"image": clear[None].astype(np.float32)})[0].ravel()
        np.savetxt(tmp_path / "picture.txt", picture.reshape(8, 8))
        digit, score = built.shell(f"installed/bin/read_digit installed/share/digits {tmp_path}/picture.txt").split()
        assert int(digit) == expected.argmax()
        assert np.isclose(float(score), expected.max(), rtol=1e-5)


def test_only_what_depends_on_a_change_is_built_again(built: App) -> None:
    built.steps()
    assert built.steps() == []
    model = built.folder.parent / "digits" / "digits.onnx"
    network = onnx.load(model)
    weights = network.graph.initializer[0]
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights) * np.float32(0.5), weights.name))
    onnx.save(network, model)
    # The weights are in a file, so the library and the program stay as they are.
    assert built.steps() == ["Building digits with Lathe"]
    assert built.steps() == []
    kernel = next(built.folder.glob("operators/native/ops/*/*.cc"))
    kernel.write_text(kernel.read_text().replace("3.0f - 2.0f * x", "2.0f - x"))
    assert built.steps() == ["Building contrast with Lathe", "Linking CXX executable read_digit"]
    assert built.steps() == []
    (kernel.parent / "more.h").touch()
    assert built.steps() == ["Building contrast with Lathe"]
    deployment = built.folder / "contrast.yml"
    deployment.write_text(deployment.read_text().replace("[clear]", "[clear]  # the result"))
    assert built.steps() == ["Building contrast with Lathe"]
    assert not list(built.folder.glob("operators/**/__pycache__"))


def test_an_installed_library_needs_no_lathe(built: App, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "app.cc").write_text(PROGRAM)
    installed = tmp_path / "elsewhere"
    shutil.copytree(built.folder / "installed", installed)
    said = built.shell(f"cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH={installed}", tmp_path)
    assert "model files: 2" in said
    built.shell(f"cmake --build build && build/app {installed}/share/digits", tmp_path)
    package = (installed / "lib" / "pkgconfig" / "digits.pc").read_text()
    if shutil.which("pkg-config"):
        told = built.shell(f"PKG_CONFIG_PATH={installed}/lib/pkgconfig pkg-config --cflags --libs digits", tmp_path)
        assert "-ldigits" in told and "/include" in told
    assert "prefix=${pcfiledir}/../..\n" in package
    assert "Version: 1.2.3\n" in package


@pytest.mark.arm
def test_the_app_for_another_machine(app: App) -> None:
    app.shell(documented("aarch64-linux-gnu"))
    machine = subprocess.run(
        ["readelf", "-h", app.folder / "build" / "aarch64-linux-gnu" / "read_digit"],
        text=True,
        capture_output=True,
        check=True,
    )
    assert "AArch64" in machine.stdout


def test_lathe_from_its_sources_and_with_makefiles(app: App, environment: Environment, tmp_path: Path) -> None:
    for name in ("contrast.yml", "contrast.onnx", "operators"):
        (tmp_path / name).symlink_to(ROOT / "examples" / "cmake-app" / name)
    (tmp_path / "CMakeLists.txt").write_text(FETCHED)
    options = f"-DLATHE_SOURCE={ROOT} -DPython_EXECUTABLE={environment.python}"
    app.shell(f"cmake -S . -B build -G 'Unix Makefiles' {options}", tmp_path)
    app.shell("cmake --build build && build/app", tmp_path)
    assert "Building contrast" not in app.shell("cmake --build build", tmp_path)


def test_an_installed_tree_and_the_entry_point_are_found(app: App, environment: Environment, tmp_path: Path) -> None:
    app.shell(f"cmake -S {ROOT} -B tree && cmake --install tree --prefix {tmp_path}/prefix", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(P LANGUAGES NONE)\nfind_package(Lathe 0.1 CONFIG REQUIRED)\n"
        'message(STATUS "found ${Lathe_DIR} ${LATHE_EXECUTABLE}")\n'
    )
    said = app.shell(f"cmake -S . -B build -DCMAKE_PREFIX_PATH={tmp_path}/prefix", tmp_path)
    command = environment.python.with_name("lathe")
    assert f"found {tmp_path}/prefix/share/lathe/cmake {command}" in said
    (tmp_path / "root.py").write_text(
        "from importlib import metadata, resources\n"
        "(entry,) = metadata.entry_points(group='cmake.root', name='Lathe')\n"
        "print(*resources.files(entry.load())._paths)\n"
    )
    found, named = app.shell("python root.py; lathe where cmake", tmp_path).split()
    assert found == named
    assert (Path(found) / "LatheConfigVersion.cmake").is_file()


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("lathe_add_library(x DEPLOYMENT none.yml)", "there is no deployment file 'none.yml'"),
        ("lathe_add_library(x DEPLOYMENT x.yml SHARED STATIC)", "SHARED and STATIC exclude each other"),
        ("lathe_add_library(x DEPLOYMENT x.yml SHARD)", "not understood: SHARD"),
        ("lathe_install_library(x)", "is of lathe_add_library"),
    ],
)
def test_a_wrong_call_is_explained(app: App, tmp_path: Path, call: str, problem: str) -> None:
    (tmp_path / "x.yml").touch()
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.21)\nproject(P LANGUAGES NONE)\nset(CMAKE_CXX_COMPILER g++)\n"
        f"find_package(Lathe CONFIG REQUIRED)\n{call}\n"
    )
    said = app.shell('cmake -S . -B build -DLathe_DIR="$(lathe where cmake)" 2>&1 || true', tmp_path)
    assert problem in " ".join(said.split())
