"""The native kernels against the NumPy references: on the host under sanitizers, and on both ARM ABIs in qemu-user.

Everything is compiled into `build/op-cases/<abi>`, so that a second run compiles what changed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.ops.registry import builtin
from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from tests.ops.case import all_cases, cases_of, operators_with_cases
from tests.ops.hostile_models import hostile_file
from tests.ops.native_cases import write_cases

ROOT = Path(__file__).parents[2]
HOSTILE_PER_OPERATOR = 100
QEMU = {
    "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    "arm-linux-gnueabihf": ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"],
}


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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One build at a time: several runs of the tests may share the tree."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _command(arguments: Sequence[str | Path], **environment: str) -> str:
    """Runs a command; its output. A failure shows the end of it."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, f"{arguments[0]} answered {done.returncode}:\n{done.stdout[-6000:]}"
    return done.stdout


def _build(abi: str, *options: str) -> Path:
    """The program of the tests for an ABI."""
    folder = ROOT / "build" / "op-cases" / abi
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'toolchains' / f'{abi}.cmake'}"
    with _locked(folder):
        _command(["cmake", "-S", ROOT / "native", "-B", folder, "-G", "Ninja", toolchain, *options])
        _command(["cmake", "--build", folder, "--target", "op_cases_test"])
    return folder / "tests" / "op_cases_test"


def _run(launcher: Sequence[str], program: Path, folder: Path, abi: str) -> None:
    """Every file is a test. Those of kernels for another architecture are skipped; what this machine lacks is told."""
    output = _command([*launcher, program, "--gtest_brief=1"], LATHE_CASES=str(folder))
    passed = re.search(r"\[  PASSED  \] (\d+) tests", output)
    skipped = re.findall(r"this machine does not run (\w+)", output)
    files = [file for file in folder.iterdir() if file.suffix in (".case", ".hostile")]
    assert passed is not None
    assert int(passed[1]) + len(skipped) > len(files)  # those of the files, and some without
    if lacking := set(skipped) & set(TARGET.capabilities.abis[abi].isas):
        warnings.warn(f"nothing here runs the kernels for {', '.join(sorted(lacking))}", stacklevel=2)


@pytest.mark.slow
def test_kernels_on_host_under_sanitizers(case_folder: Path) -> None:
    _run([], _build("host", "-DLATHE_SANITIZE=address,undefined"), case_folder, "host")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_kernels_on_arm(abi: str, case_folder: Path) -> None:
    _run(QEMU[abi], _build(abi), case_folder, abi)


def _kernel_files() -> list[Path]:
    return sorted((resources.root() / "native" / "ops").glob("*/*__*.cc"))


@pytest.mark.slow
def test_clang_has_no_objections() -> None:
    clang = next((found for name in ("clang++-19", "clang++") if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("clang++ is not installed")
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-Wall", "-Wextra", "-Werror"]
    root = resources.root()
    command: list[str | Path] = [clang, "-fsyntax-only", *flags, "-I", root, "-I", root / "native" / "include"]
    _command([*command, *sorted((root / "native" / "core").glob("*.cc"))])
    for isa in TARGET.capabilities.abis["host"].isas:
        files = [file for file in _kernel_files() if file.stem.endswith(f"__{isa}")]
        if files:
            _command([*command, *_isa_flags(isa), *files])


def _isa_flags(isa: str) -> list[str]:
    include = f"include({resources.cmake_dir() / 'LatheIsa.cmake'})"
    script = f'{include}\nlathe_isa_flags({isa} flags)\nmessage(STATUS "${{flags}}")'
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as file:
        file.write(script)
        file.flush()
        return _command(["cmake", "-P", file.name]).removeprefix("--").strip().split(";")


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
