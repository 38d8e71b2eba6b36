"""The generated tree builds by itself, with nothing but CMake, ninja and a compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import elf
from buildtool.builders.toolchain import cmake_program, ninja_program
from tests.builders.conftest import ABIS, Build, lowered, source

TREE = """\
CMakeLists.txt CMakePresets.json abi/host/model0.data abi/host/model0.pb abi/host/registry.cc abi/host/sources.cmake
abi/host/weights.S cmake/LatheFlags.cmake cmake/LatheIsa.cmake cmake/LatheLink.cmake exports.map include/lathe/c_api.h
include/lathe/tiny.h native/runtime/kernel.h toolchains/host.cmake
"""


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.slow
def test_the_tree_builds_with_plain_cmake(build: Build, tmp_path: Path, abi: str) -> None:
    _, tree = lowered(source(code=True), abi)
    tree.write(tmp_path)
    environment = {"PATH": f"{cmake_program().parent}:{ninja_program().parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for command in (["cmake", "--preset", abi], ["cmake", "--build", "--preset", abi, "-j", "2"]):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    made = tmp_path / "build" / abi / "libtiny.so"
    elf.check_library(made, "lathe_api_tiny", "2.17")
    ours = build(source(code=True), abi)
    assert made.read_bytes() == ours.shared.read_bytes()
    assert (made.parent / "libtiny.a").read_bytes() == ours.static.read_bytes()


@pytest.mark.parametrize("kind", ["lathe_flags", "lathe_tool_flags"])
def test_warnings_of_a_users_compiler_are_no_errors(tmp_path: Path, kind: str) -> None:
    script = tmp_path / "flags.cmake"
    flags = resources.root() / "cmake" / "LatheFlags.cmake"
    script.write_text(f'include("{flags}")\n{kind}(flags)\nmessage(STATUS "${{flags}}")\n')

    def told(**environment: str) -> str:
        command = [str(cmake_program()), "-P", str(script)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert "-Wall" in told() and "-Werror" not in told()
    assert "-Werror" in told(LATHE_WARNINGS_AS_ERRORS="1"), "those of the tests are"


def test_the_tree_holds_the_sources_of_the_kernels_it_keeps_and_no_other() -> None:
    _, tree = lowered(source(code=True))
    assert set(TREE.split()) <= set(tree.files)
    kernels = {name.split("/")[2] for name in tree.files if name.startswith("native/units/") and name.count("/") == 3}
    assert kernels == {"conv2d", "relu", "reshape", "fully_connected", "softmax"}
    assert not [name for name in tree.files if name.endswith("_test.cc")]


def test_one_tree_serves_all_abis() -> None:
    _, tree = lowered(source(), "host", "aarch64-linux-gnu", "arm-linux-gnueabihf")
    for abi in ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf"):
        assert f"abi/{abi}/registry.cc" in tree.files
        assert tree.units[abi]
    assert tree.files["CMakePresets.json"].count(b'"configurePreset"') == 3


def test_writing_touches_only_what_changed(tmp_path: Path) -> None:
    _, tree = lowered(source())
    assert len(tree.write(tmp_path)) == len(tree.files)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "keep").write_text("")
    (tmp_path / "native" / "gone").mkdir()
    (tmp_path / "native" / "gone" / "old.cc").write_text("")
    (tmp_path / "exports.map").write_text("changed")
    assert tree.write(tmp_path) == [tmp_path / "exports.map"]
    assert not (tmp_path / "native" / "gone").exists()
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["keep"]
    assert tree.write(tmp_path) == []
