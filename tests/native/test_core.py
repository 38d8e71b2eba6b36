"""The native core's own tests, under sanitizers on this machine and in emulators of the ARM ABIs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.native_builds import QEMU, RISCV, ROOT, build, riscv_emulator, run_program

# The best instruction set of what an emulator is told to be.
BEST = {
    "aarch64-linux-gnu": {"max": "i8mm", "neoverse-n1": "dotprod", "cortex-a53": "neon"},
    "arm-linux-gnueabihf": {"max": "neonv7", "cortex-a15": "neonv7"},
}


@pytest.mark.slow
def test_core_under_address_and_undefined_sanitizers() -> None:
    programs = ["core_test", "hostile_model_test", "cpp_api_test", "mace_face_test", "paddle_face_test", "cores_test"]
    folder = build(*programs, variant="asan")
    for program in programs:
        assert "PASSED" in run_program(folder / "tests" / program)


@pytest.mark.slow
def test_threads_under_the_thread_sanitizer() -> None:
    folder = build("threads_test", variant="tsan")
    assert "PASSED" in run_program(folder / "tests" / "threads_test")


@pytest.mark.slow
def test_the_thread_pool_in_every_order_of_its_threads() -> None:
    folder = build("schedules_test")
    assert "PASSED" in run_program(folder / "tests" / "schedules_test")


@pytest.mark.slow
def test_every_call_of_the_system_fails_once() -> None:
    folder = build("faults_test", variant="asan")
    assert "PASSED" in run_program(folder / "tests" / "faults_test")


@pytest.mark.slow
def test_a_run_allocates_nothing() -> None:
    folder = build("allocation_test")
    assert "PASSED" in run_program(folder / "tests" / "allocation_test")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_core_in_an_emulator(abi: str) -> None:
    emulator = QEMU[abi]
    folder = build("core_test", "threads_test", abi=abi)
    assert "PASSED" in run_program(folder / "tests" / "threads_test", emulator)
    for processor, isa in BEST[abi].items():
        told = [emulator[0], "-cpu", processor, "-E", f"LATHE_EXPECT_BEST_ISA={isa}", *emulator[1:]]
        assert "PASSED" in run_program(folder / "tests" / "core_test", told)


@pytest.mark.slow
@pytest.mark.arm
def test_core_on_riscv() -> None:
    folder = build("core_test", "threads_test", abi=RISCV, variant="core")
    for vlen, isa in {0: "portable", 128: "rvv", 256: "rvv", 512: "rvv"}.items():
        emulator = riscv_emulator(vlen)
        told = [emulator[0], "-E", f"LATHE_EXPECT_BEST_ISA={isa}", *emulator[1:]]
        assert "PASSED" in run_program(folder / "tests" / "core_test", told)
    assert "PASSED" in run_program(folder / "tests" / "threads_test", riscv_emulator())


def _programs() -> list[str]:
    """The examples that stand for themselves."""
    texts = [(ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8") for page in ("cpp-api", "vision")]
    return [part.split("```", 1)[0] for text in texts for part in text.split("```cpp\n#include")[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("program", _programs())
def test_the_examples_of_the_documentation_compile(program: str, tmp_path: Path) -> None:
    source = tmp_path / "program.cc"
    source.write_text(f"#include{program}", encoding="utf-8")
    include = ROOT / "native" / "include"
    compiler = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-fsyntax-only"]
    done = subprocess.run([*compiler, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_library_needs_no_cpp_runtime_and_exports_one_symbol() -> None:
    folder = build("test_b")
    library = folder / "tests" / "libtest_b.so"
    listed = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = [line.split()[-1] for line in listed if " T " in line or " D " in line or " B " in line]
    assert exported == ["lathe_api_test_b"]
    imported = [line.split()[-1] for line in listed if line.split()[0] == "U"]
    assert not [name for name in imported if name.startswith(("_Z", "__cxa_pure", "__gxx"))], imported
