"""Builds and runs what native/CMakeLists.txt describes: once per ABI and variant, under build/native.

Tests that need the same variant share its folder, and a second run compiles what changed.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from buildtool.builders import native_tests
from buildtool.builders.process import Processes
from buildtool.targets.cpu import TARGET

ROOT = Path(__file__).resolve().parents[1]
QEMU = {
    "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    "arm-linux-gnueabihf": ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"],
}
RISCV = "riscv64-linux-gnu"
SANITIZED = {"asan": "address,undefined", "tsan": "thread"}


def riscv_emulator(vlen: int = 0) -> list[str]:
    """A processor with vectors of so many bits; without them if that is 0."""
    vectors = f",v=true,vext_spec=v1.0,vlen={vlen}" if vlen else ""
    return ["qemu-riscv64", "-L", "/usr/riscv64-linux-gnu", "-cpu", f"rv64{vectors}"]


def command(arguments: Sequence[str | Path], **environment: str) -> str:
    """Runs a command; its output. A failure shows the end of it."""
    # cmake and ninja of the environment go before those of the system.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(argument) for argument in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "PATH": path, **environment},
    )
    # Of thousands of cases most may be skipped: that is not what went wrong.
    told = [line for line in done.stdout.splitlines() if not re.search(r": Skipped$|^this machine does not run", line)]
    assert done.returncode == 0, f"{arguments[0]} answered {done.returncode}:\n" + "\n".join(told)[-8000:]
    return done.stdout


def build(
    *targets: str,
    abi: str = "host",
    variant: str = "",
    options: Sequence[str] = (),
    source: Path = ROOT / "native",
) -> Path:
    """The folder where targets are built now. `variant`: a word of SANITIZED, or a name for other `options`."""
    return _built(targets, abi, variant, tuple(options), source)


@cache
def _built(targets: tuple[str, ...], abi: str, variant: str, options: tuple[str, ...], source: Path) -> Path:
    """Once in each process: to find out that there is nothing to do takes seconds."""
    folder = ROOT / "build" / source.relative_to(ROOT) / (f"{abi}-{variant}" if variant else abi)
    configure: list[str | Path] = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-Wno-dev", *options]
    configure.append(f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'toolchains' / f'{abi}.cmake'}")
    configure.append(f"-DLATHE_SANITIZE={SANITIZED.get(variant, '')}")
    with _locked(folder):
        if not variant and not options and source == ROOT / "native":
            configure.append(f"-DLATHE_KERNEL_OBJECTS={native_tests.kernel_objects(abi, folder, Processes())}")
        command(configure)
        command(["ninja", "-C", folder, *targets])
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One build at a time: several workers run the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def full_library() -> Path:
    """A library with every kernel for this machine, so that no model needs a compiler."""
    return build("full") / "liblathe_full.so"


def checked_library() -> Path:
    """The same with a core that finds values which were overwritten before their last use."""
    return build("checked") / "liblathe_checked.so"


def opencl_shim() -> Path:
    """A library for $LATHE_OPENCL_LIBRARY that fails as $LATHE_SHIM says: native/tests/opencl_shim.cc."""
    return build("opencl_shim") / "tests" / "libopencl_shim.so"


def run_program(program: Path, emulator: Sequence[str] = ()) -> str:
    """Runs a program of tests; its output. Fails where it fails or a sanitizer has a complaint."""
    return command([*emulator, program, "--gtest_brief=1"])


def cases_program(abi: str = "host", variant: str = "", options: Sequence[str] = ()) -> Path:
    """The program that reads case files."""
    return build("op_cases_test", abi=abi, variant=variant, options=options) / "tests" / "op_cases_test"


def run_cases(
    program: Path,
    folder: Path,
    abi: str,
    without: Sequence[str] = (),
    report: Path | None = None,
    functions: bool = False,
    emulator: Sequence[str] = (),
) -> None:
    """Every file for this architecture is a test, but for those whose names match a pattern of `without`. What this
    machine lacks is told. `report`: where to write one in XML. `functions`: also the program's tests without files.
    `emulator`: another one than that of the ABI.
    """
    without = [*without, *(f"*__{isa}_*" for isa in _isas_of_others(abi))]
    wishes = "*" if functions else "Folder.*:Files/*"
    options = [f"--gtest_filter={wishes}-{':'.join(without)}", *([f"--gtest_output=xml:{report}"] if report else [])]
    output = command([*(emulator or QEMU.get(abi, ())), program, "--gtest_brief=1", *options], LATHE_CASES=str(folder))
    passed = re.search(r"\[  PASSED  \] (\d+) tests", output)
    skipped = re.findall(r"this machine does not run (\w+)", output)
    files = [file.stem for file in folder.iterdir() if file.suffix in (".case", ".hostile")]
    wanted = [file for file in files if not any(fnmatch(file, pattern) for pattern in without)]
    assert passed is not None and wanted
    assert int(passed[1]) + len(skipped) > len(wanted)  # those of the files, and that of the folder
    if lacking := set(skipped) & set(TARGET.capabilities.abis[abi].isas):
        warnings.warn(f"this machine cannot run the kernels for {', '.join(sorted(lacking))}", stacklevel=2)


def _isas_of_others(abi: str) -> list[str]:
    """The instruction sets of other architectures: their files need not be opened to be left out."""
    abis = TARGET.capabilities.abis
    return sorted({isa for other in abis.values() for isa in other.isas} - set(abis[abi].isas))
