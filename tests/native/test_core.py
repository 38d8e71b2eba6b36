"""The native core's own tests, under sanitizers on this machine and in emulators of the ARM ABIs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.native.native_build import ROOT, build, run_program

# ABI, compiler, flags, emulator
ARM = [
    ("aarch64", "aarch64-linux-gnu", "", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    ("arm", "arm-linux-gnueabihf", "-march=armv7-a -mfpu=neon-vfpv4", ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"]),
]

# The best instruction set of what an emulator is told to be.
BEST = {"aarch64": {"max": "fp16", "cortex-a53": "neon"}, "arm": {"max": "neonv7", "cortex-a15": "neonv7"}}


@pytest.mark.slow
def test_core_under_address_and_undefined_sanitizers() -> None:
    programs = ["core_test", "hostile_model_test", "cpp_api_test"]
    folder = build("asan", programs, ["-DLATHE_SANITIZE=address,undefined"])
    for program in programs:
        assert "PASSED" in run_program(folder / "tests" / program)


@pytest.mark.slow
def test_threads_under_the_thread_sanitizer() -> None:
    folder = build("tsan", ["threads_test"], ["-DLATHE_SANITIZE=thread"])
    assert "PASSED" in run_program(folder / "tests" / "threads_test")


def test_a_run_allocates_nothing() -> None:
    folder = build("plain", ["allocation_test"])
    assert "PASSED" in run_program(folder / "tests" / "allocation_test")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize(("processor", "triple", "flags", "emulator"), ARM, ids=[arm[0] for arm in ARM])
def test_core_in_an_emulator(processor: str, triple: str, flags: str, emulator: list[str]) -> None:
    if shutil.which(f"{triple}-g++") is None or shutil.which(emulator[0]) is None:
        pytest.skip(f"{triple}-g++ or {emulator[0]} is not installed")
    programs = ["core_test", "threads_test"]
    options = ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={processor}", f"-DCMAKE_CXX_FLAGS={flags}"]
    options += [f"-DCMAKE_CXX_COMPILER={triple}-g++", f"-DCMAKE_C_COMPILER={triple}-gcc"]
    folder = build(triple, programs, options)
    for program in programs:
        assert "PASSED" in run_program(folder / "tests" / program, emulator)
    for processor_kind, isa in BEST[processor].items():
        told = [emulator[0], "-cpu", processor_kind, "-E", f"LATHE_EXPECT_BEST_ISA={isa}", *emulator[1:]]
        assert "PASSED" in run_program(folder / "tests" / "core_test", told)


def test_the_example_of_the_documentation_compiles(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "cpp-api.md").read_text(encoding="utf-8")
    program = text.split("```cpp\n", 1)[1].split("```", 1)[0]
    source = tmp_path / "program.cc"
    source.write_text(program, encoding="utf-8")
    include = ROOT / "native" / "include"
    compiler = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-fsyntax-only"]
    done = subprocess.run([*compiler, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_library_needs_no_cpp_runtime_and_exports_one_symbol() -> None:
    folder = build("plain", ["test_b"])
    library = folder / "tests" / "libtest_b.so"
    listed = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = [line.split()[-1] for line in listed if " T " in line or " D " in line or " B " in line]
    assert exported == ["lathe_api_test_b"]
    imported = [line.split()[-1] for line in listed if line.split()[0] == "U"]
    assert not [name for name in imported if name.startswith(("_Z", "__cxa_pure", "__gxx"))], imported
