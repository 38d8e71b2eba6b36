"""Builds the program that reads case files, and runs it on folders of them."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from buildtool.targets.cpu import TARGET

ROOT = Path(__file__).parents[2]
QEMU = {
    "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    "arm-linux-gnueabihf": ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"],
}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One build at a time: several runs of the tests may share the tree."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def command(arguments: Sequence[str | Path], **environment: str) -> str:
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


def build_folder(abi: str, *options: str, variant: str = "", targets: Sequence[str] = ("op_cases_test",)) -> Path:
    """Where the programs of native/tests for an ABI are, which are built now. `variant` names other options."""
    folder = ROOT / "build" / "op-cases" / f"{abi}{'-' if variant else ''}{variant}"
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'toolchains' / f'{abi}.cmake'}"
    with _locked(folder):
        command(["cmake", "-S", ROOT / "native", "-B", folder, "-G", "Ninja", toolchain, *options])
        command(["cmake", "--build", folder, "--target", *targets])
    return folder


def build(abi: str, *options: str, variant: str = "") -> Path:
    """The program that reads case files, for an ABI."""
    return build_folder(abi, *options, variant=variant) / "tests" / "op_cases_test"


def run_cases(program: Path, folder: Path, abi: str, *options: str) -> None:
    """Every file is a test. Those of kernels for another architecture are skipped; what this machine lacks is told."""
    output = command([*QEMU.get(abi, ()), program, "--gtest_brief=1", *options], LATHE_CASES=str(folder))
    passed = re.search(r"\[  PASSED  \] (\d+) tests", output)
    skipped = re.findall(r"this machine does not run (\w+)", output)
    files = [file for file in folder.iterdir() if file.suffix in (".case", ".hostile")]
    assert passed is not None
    assert int(passed[1]) + len(skipped) > len(files)  # those of the files, and some without
    if lacking := set(skipped) & set(TARGET.capabilities.abis[abi].isas):
        warnings.warn(f"nothing here runs the kernels for {', '.join(sorted(lacking))}", stacklevel=2)
