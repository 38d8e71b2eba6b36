"""The native kernels against the NumPy references: on the host under sanitizers, and on both ARM ABIs in qemu-user.

Everything is compiled into `build/op-cases/<abi>`, so that a second run compiles what changed.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.ops.registry import builtin
from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from tests.ops.case import all_cases, cases_of, operators_with_cases
from tests.ops.hostile_models import hostile_file
from tests.ops.isa_flags import isa_flags
from tests.ops.native_cases import write_cases
from tests.ops.native_runs import QEMU, build, command, run_cases

HOSTILE_PER_OPERATOR = 100


@pytest.fixture(scope="session")
def manifests() -> Manifests:
    return manifest.load()  # which checks that names, files and manifests agree


@pytest.fixture(scope="session")
def case_folder(tmp_path_factory: pytest.TempPathFactory, manifests: Manifests) -> Path:
    folder = tmp_path_factory.mktemp("op-cases")
    written = write_cases(folder, all_cases(), manifests)
    idle = {kernel for kernel, files in written.files.items() if files == 0}
    with_regions = {kernel.name for kernel in manifests if builtin()[kernel.op].regions}
    assert idle == with_regions, (
        "every kernel runs cases, but for those of whole models (tests/native/test_control_flow.py)"
    )
    for seed, operator in enumerate(operators_with_cases()):
        data = hostile_file(list(cases_of(operator)), HOSTILE_PER_OPERATOR, seed)
        (folder / f"{operator}.hostile").write_bytes(data)
    return folder


@pytest.mark.slow
def test_kernels_on_host_under_sanitizers(case_folder: Path) -> None:
    run_cases(build("host", "-DLATHE_SANITIZE=address,undefined"), case_folder, "host")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_kernels_on_arm(abi: str, case_folder: Path) -> None:
    run_cases(build(abi), case_folder, abi)


def _kernel_files() -> list[Path]:
    return sorted((resources.root() / "native" / "ops").glob("*/*__*.cc"))


@pytest.mark.slow
def test_clang_has_no_objections() -> None:
    clang = next((found for name in ("clang++-19", "clang++") if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("clang++ is not installed")
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-Wall", "-Wextra", "-Werror"]
    root = resources.root()
    check: list[str | Path] = [clang, "-fsyntax-only", *flags, "-I", root, "-I", root / "native" / "include"]
    command([*check, *sorted((root / "native" / "core").glob("*.cc"))])
    for isa in TARGET.capabilities.abis["host"].isas:
        files = [file for file in _kernel_files() if file.stem.endswith(f"__{isa}")]
        if files:
            command([*check, *isa_flags(isa), *files])


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
