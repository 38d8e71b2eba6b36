"""`lathe_add_library` and `lathe_install_library` with a model for the DSP: the program lies beside the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import hexagon
from buildtool.builders.toolchain import cmake_program, ninja_program
from tests.targets.hexagon.shifted import DEPLOYMENT, write_model

_PROJECT = """
cmake_minimum_required(VERSION 3.21)
project(App VERSION 1.0 LANGUAGES CXX)
find_package(Lathe CONFIG REQUIRED)
lathe_add_library(shifted SHARED DEPLOYMENT shifted.yml)
lathe_install_library(shifted)
add_custom_target(app ALL COMMAND ${CMAKE_COMMAND} -E echo dsp=$<TARGET_PROPERTY:shifted,LATHE_DSP_DIR>)
add_dependencies(app shifted_lathe)
"""
_USER = """
cmake_minimum_required(VERSION 3.21)
project(User LANGUAGES CXX)
find_package(shifted CONFIG REQUIRED)
get_target_property(folder shifted LATHE_DSP_DIR)
file(GLOB found ${folder}/hexagon-*/libshifted_skel.so)
list(LENGTH found count)
message(STATUS "programs: ${count}")
"""


def _cmake(*words: str | Path) -> str:
    done = subprocess.run(
        [cmake_program(), *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def _configure(source: Path, *words: str | Path) -> str:
    ninja = f"-DCMAKE_MAKE_PROGRAM={ninja_program()}"
    return _cmake("-S", source, "-B", source / "build", "-G", "Ninja", ninja, *words)


@pytest.mark.slow
def test_programs_beside_the_library_and_installed(tmp_path: Path) -> None:
    app, user, prefix = tmp_path / "app", tmp_path / "user", tmp_path / "installed"
    app.mkdir()
    user.mkdir()
    write_model(app / "shifted.onnx")
    (app / "shifted.yml").write_text(DEPLOYMENT)
    (app / "CMakeLists.txt").write_text(_PROJECT)
    (user / "CMakeLists.txt").write_text(_USER)
    lathe = Path(sys.executable).with_name("lathe")
    _configure(app, f"-DLathe_DIR={resources.root() / 'cmake'}", f"-DLATHE_EXECUTABLE={lathe}")
    told = _cmake("--build", app / "build")
    folder = Path(next(line for line in told.splitlines() if line.startswith("dsp="))[4:])
    _cmake("--install", app / "build", "--prefix", prefix)
    found = {file.name: file.parent.parent for file in prefix.rglob("*_skel.so")}
    assert list(found) == ["libshifted_skel.so"]
    program = Path("hexagon-v68") / "libshifted_skel.so"
    hexagon.check_program(folder / program, "shifted_skel_handle_invoke")
    assert (found[program.name] / program).read_bytes() == (folder / program).read_bytes()
    assert not list(prefix.rglob("host"))
    assert "programs: 1" in _configure(user, f"-DCMAKE_PREFIX_PATH={prefix}")
