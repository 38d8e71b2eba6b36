"""The native kernels against the NumPy references: on the host under sanitizers, and on both ARM ABIs in qemu-user."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.ops.registry import builtin
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from tests.native_builds import QEMU, cases_program, command, run_cases
from tests.ops.isa_flags import isa_flags


@pytest.mark.slow
def test_kernels_on_host_under_sanitizers(case_folder: Path) -> None:
    run_cases(cases_program(variant="asan"), case_folder, "host")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_kernels_on_arm(abi: str, case_folder: Path) -> None:
    """The kernels for ARM on everything; the portable ones, which the host runs on everything, on what is fixed."""
    run_cases(cases_program(abi), case_folder, abi, without=("*__portable_*_symbol*", "*__portable_*_variable*"))


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_everything_on_arm(abi: str, case_folder: Path) -> None:
    run_cases(cases_program(abi), case_folder, abi)


def _kernel_files() -> list[Path]:
    return sorted((resources.root() / "native" / "ops").glob("*/*__*.cc"))


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
def test_clang_has_no_objections(abi: str) -> None:
    clang = next((found for name in ("clang++-19", "clang++") if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("clang++ is not installed")
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-Wall", "-Wextra", "-Werror"]
    root = resources.root()
    check: list[str | Path] = [clang, *_CLANG_TARGETS[abi], "-fsyntax-only", *flags]
    check += ["-I", root, "-I", root / "native" / "include"]
    command([*check, *sorted((root / "native" / "core").glob("*.cc"))])
    for isa in TARGET.capabilities.abis[abi].isas:
        shared = (root / "native" / "core" / "isa").glob("*.cc")
        files = [file for file in (*_kernel_files(), *shared) if file.stem.endswith(f"__{isa}")]
        if files and (abi == "host" or isa != "portable"):
            command([*check, *[flag for flag in isa_flags(isa) if flag not in _GCC_ONLY], *files])


def test_every_operator_has_a_portable_kernel(manifests: Manifests) -> None:
    portable = {kernel.op for kernel in manifests if kernel.isa == "portable"}
    assert portable == set(builtin())


@pytest.mark.parametrize("file", _kernel_files(), ids=lambda file: file.stem)
def test_definition_is_named_like_its_file(file: Path, manifests: Manifests) -> None:
    """The symbol, the name that plans refer to, and the operator."""
    text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
    definitions = re.findall(r"LATHE_KERNEL\((\w+)\) = [^\"]*\"(\w+)\", \"(\w+)\"", text)
    assert definitions == [(file.stem, file.stem, file.parent.name)]
    kernel = next(kernel for kernel in manifests if kernel.name == file.stem)
    in_place = re.search(r", (-?\d+), lathe::Prepare", text)
    if in_place is not None:
        assert int(in_place[1]) == (-1 if kernel.in_place is None else kernel.in_place)
