"""CMake toolchain files of the user's own as targets: what is found out, and what their objects are called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildtool.builders import toolchain, toolchain_file
from buildtool.builders.objects import ObjectCache, Unit
from buildtool.builders.toolchain import probe
from buildtool.codegen.native_sources import NativeSources
from buildtool.devices.choose import abi_like
from buildtool.errors import ConfigError, ToolchainError, UnsupportedError
from buildtool.targets.processors import AARCH64, X86_64, of_compiler
from tests.cli.conftest import Lathe, digits, lathe

__all__ = ["digits", "lathe"]  # fixtures

FILES = {"native/ops/a/a.cc": b"extern int a;\nint a = 1;\n"}
UNIT = Unit("native/ops/a/a.cc")


def write(folder: Path, text: str, name: str = "board") -> Path:
    file = folder / f"{name}.cmake"
    file.write_text(text)
    return file


def key(file: Path, folder: Path) -> str:
    return ObjectCache(folder).key(toolchain_file.examine(file, "x"), NativeSources.of_tree(FILES), UNIT)


def test_the_compiler_says_what_it_builds_for(tmp_path: Path) -> None:
    found = toolchain_file.examine(write(tmp_path, "set(CMAKE_CXX_COMPILER g++)\n"), "board")
    assert found.abi == "board"
    assert found.cxx == Path(shutil.which("g++") or "")
    assert of_compiler(found.macros) == (X86_64 if "__x86_64__" in found.macros else AARCH64)


@pytest.mark.arm
def test_a_compiler_for_another_machine(tmp_path: Path) -> None:
    text = "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
    text += "set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)\n"
    assert of_compiler(toolchain_file.examine(write(tmp_path, text), "board").macros) == AARCH64


def test_without_neon_there_are_portable_kernels_only() -> None:
    assert of_compiler({"__arm__", "__ARM_PCS_VFP"}).isas == ("portable",)
    assert of_compiler({"__riscv"}).isas == ("portable",)


def test_the_order_of_macros_identifies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GCC prints them in an order that changes from run to run, now and then."""
    compiler = tmp_path / "g++"
    real = shutil.which("g++")
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *-dM*) {real} "$@" | shuf;; *) exec {real} "$@";; esac\n')
    compiler.chmod(0o755)
    text = f"set(CMAKE_CXX_COMPILER {compiler})\n"
    found = [toolchain_file.examine(write(tmp_path, text, name), "board").identity for name in ("one", "two")]
    assert found[0] == found[1]
    monkeypatch.setenv("CXX", str(compiler))
    first = probe("host").identity
    toolchain._probe.cache_clear()
    assert probe("host").identity == first


def test_objects_are_shared_by_what_a_file_comes_to(tmp_path: Path) -> None:
    plain = "set(CMAKE_CXX_COMPILER g++)\n"
    first = key(write(tmp_path, plain), tmp_path)
    included = f"include({write(tmp_path, plain, 'inner')})\n# in other words\n"
    assert key(write(tmp_path, included, "outer"), tmp_path) == first
    flags = plain + 'set(CMAKE_CXX_FLAGS_INIT "-DBOARD=1")\n'
    assert key(write(tmp_path, flags, "flags"), tmp_path) != first
    assert ObjectCache(tmp_path).key(probe("host"), NativeSources.of_tree(FILES), UNIT) != first


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("set(CMAKE_CXX_COMPILER nonesuch-g++)\n", "nonesuch-g++"),
        ("this is no CMake\n", "Parse error"),
        (
            "set(CMAKE_SYSTEM_NAME Darwin)\nset(CMAKE_CXX_COMPILER g++)\nset(CMAKE_CXX_COMPILER_WORKS 1)\n",
            "this toolchain builds for Darwin",
        ),
    ],
)
def test_unusable_toolchain_files_are_explained(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ToolchainError, match=problem):
        toolchain_file.examine(write(tmp_path, text), "board")


def test_a_compiler_leaves_nothing_in_the_folder_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "messy"
    compiler.write_text('#!/bin/sh\ntouch a.o\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    toolchain_file.examine(write(tmp_path, f"set(CMAKE_CXX_COMPILER {compiler})\n"), "board")
    assert list(here.iterdir()) == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="there is no such toolchain file"):
        toolchain_file.examine(tmp_path / "none.cmake", "board")


@pytest.mark.slow
def test_the_command_builds_with_it(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    file = write(tmp_path, "set(CMAKE_CXX_COMPILER g++)\n")
    rule = tmp_path / "rule.d"
    options = ["-o", tmp_path / "out", "--toolchain", file, "--no-archive", "--depfile", rule, "the result"]
    built = lathe("build", digits, *options, "--json").document
    assert [library["abi"] for library in built["libraries"]] == ["board"]
    assert (tmp_path / "out" / "digits" / "lib" / "board" / "libdigits.so").is_file()
    assert not list((tmp_path / "out").rglob("*.tar.gz"))
    text = rule.read_text()
    assert text.startswith("the\\ result: ")
    assert all(f"{path}" in text for path in (digits, digits.with_name("digits.onnx"), file))
    assert lathe("build", digits, "--toolchain", file, "--abi", "a/b").code == ConfigError.exit_code
    place = [digits, "-o", tmp_path / "out"]
    judged = lathe("validate", *place, "--toolchain", file, "--json").document["results"]
    assert {(result["abi"], result["kind"], result["passed"]) for result in judged} == {
        ("board", "shared", True),
        ("board", "static", True),
    }
    # The library of the board is none that a build for a target of Lathe's could make again.
    (run,) = lathe("run", *place, "--abi", "host", "--json").document["runs"]
    assert run["abi"] == "host"


@pytest.mark.slow
@pytest.mark.arm
def test_an_emulator_runs_libraries_of_a_toolchain_file(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    text = "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR arm)\n"
    file = write(tmp_path, f"{text}set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)\n")
    options = ["-o", tmp_path / "out", "--toolchain", file, "--abi", "controller", "--json"]
    (run,) = lathe("run", digits, *options).document["runs"]
    assert (run["abi"], run["device"]) == ("controller", "qemu-user (max)")


def test_a_library_that_nothing_here_runs(tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_bytes(b"no library")
    with pytest.raises(UnsupportedError, match="this machine cannot run libraries"):
        abi_like(tmp_path / "lib.so")
