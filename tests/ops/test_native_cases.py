"""The native kernels against the NumPy references: on the host under sanitizers, and on both ARM ABIs in qemu-user."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.codegen import kernel_units
from buildtool.ops.registry import builtin
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from tests.native_builds import QEMU, RISCV, cases_program, command, riscv_emulator, run_cases
from tests.ops.isa_flags import intrinsics, isa_flags

# Portable kernels that run the cases of Winograd as well.
_NOT_WINOGRAD = ("conv2d_f32_tile__portable", "conv2d_f16_direct__portable")


@pytest.mark.slow
def test_kernels_on_host_under_sanitizers(case_folder: Path) -> None:
    run_cases(cases_program(variant="asan"), case_folder, "host", functions=True)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_kernels_on_arm(abi: str, case_folder: Path) -> None:
    """The kernels for ARM on everything; the portable ones, which the host runs on everything, on what is fixed, and
    made for them."""
    without = ("*__portable_*_symbol*", "*__portable_*_variable*", *(f"{name}_*winograd_*" for name in _NOT_WINOGRAD))
    run_cases(cases_program(abi), case_folder, abi, without=without, functions=True)


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_all_kernels_and_variants_on_arm(abi: str, case_folder: Path) -> None:
    run_cases(cases_program(abi), case_folder, abi, functions=True)


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("vlen", [0, 128, 256, 512, 1024])
def test_all_kernels_and_variants_on_riscv(vlen: int, riscv_case_folder: Path) -> None:
    """The portable kernels without vectors, the others with vectors of so many bits."""
    without = ("*__portable_*",) if vlen else ()
    run_cases(
        cases_program(RISCV), riscv_case_folder, RISCV, without=without, functions=True, emulator=riscv_emulator(vlen)
    )


def _core_files() -> list[Path]:
    """The runtime, and shared kernel code, apart from what is compiled once per instruction set."""
    native = resources.root() / "native"
    files = [*native.glob("runtime/*.cc"), *native.glob("kernel/*.cc"), *native.glob("kernel/*/*.cc")]
    return [file for file in files if "__" not in file.stem]


# What Clang is told to compile for each ABI, and the options that only GCC knows.
_CLANG_TARGETS = {
    "host": [],
    "aarch64-linux-gnu": ["--target=aarch64-linux-gnu"],
    "arm-linux-gnueabihf": ["--target=arm-linux-gnueabihf", "-march=armv7-a", "-mfpu=neon-vfpv4"],
}
_GCC_ONLY = {"-mfp16-format=ieee"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "abi", [pytest.param(abi, marks=[pytest.mark.arm] if abi != "host" else []) for abi in sorted(_CLANG_TARGETS)]
)
def test_clang_has_no_objections(abi: str, tmp_path: Path) -> None:
    clang = next((found for name in ("clang++-19", "clang++") if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("clang++ is not installed")
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-Wall", "-Wextra", "-Werror"]
    root = resources.root()
    check: list[str | Path] = [clang, *_CLANG_TARGETS[abi], "-fsyntax-only", *flags]
    check += ["-I", root, "-I", root / "native" / "include"]
    command([*check, *sorted(_core_files())])
    isas = TARGET.capabilities.abis[abi].isas
    kernel_units.main(tmp_path, isas)
    units = sorted((tmp_path / "native" / "units").rglob("*.cc"))
    for isa in isas:
        files = [file for file in units if file.stem.endswith(f"__{isa}")]
        if files and (abi == "host" or isa != "portable"):
            own = [*check, *[flag for flag in isa_flags(isa) if flag not in _GCC_ONLY]]
            command([*own, *(intrinsics(own, isa, tmp_path) if isa != "portable" else []), *files])


def test_every_operator_has_a_portable_kernel(manifests: Manifests) -> None:
    portable = {kernel.op for kernel in manifests if kernel.isa == "portable"}
    assert portable == set(builtin())
