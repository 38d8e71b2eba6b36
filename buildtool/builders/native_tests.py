"""Builds the tests of the native core and of the kernels for an ABI, by native/CMakeLists.txt."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Sequence
from pathlib import Path

from buildtool import resources
from buildtool.builders import library
from buildtool.builders.objects import ObjectCache, Unit
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import cmake_program, ninja_program
from buildtool.codegen import kernel_units
from buildtool.codegen.native_sources import NativeSources
from buildtool.targets.processors import ABIS

CORE, CASES = ("core_test", "threads_test"), "op_cases_test"
# What the programs load, by the name of the target and of the file.
_LIBRARIES = {"core_test": ("tests/libtest_b.so",), CASES: ("liblathe_full.so",)}


def build(abi: str, programs: Sequence[str], processes: Processes) -> Path:
    """The folder where these programs stand below `tests`. In a source tree it is the one of its own tests."""
    home = resources.root() / "build" if resources.in_source_tree() else resources.cache_dir()
    folder = home / "native" / abi
    folder.mkdir(parents=True, exist_ok=True)
    configure: list[str | Path] = [
        cmake_program(),
        "-S",
        resources.native_dir(),
        "-B",
        folder,
        "-G",
        "Ninja",
        "-Wno-dev",
    ]
    configure += [f"-DCMAKE_MAKE_PROGRAM={ninja_program()}", "-DLATHE_SANITIZE=", f"-DLATHE_PYTHON={sys.executable}"]
    configure.append(f"-DCMAKE_TOOLCHAIN_FILE={resources.toolchains_dir() / f'{abi}.cmake'}")
    configure.append(f"-DLATHE_KERNEL_OBJECTS={kernel_objects(abi, folder, processes)}")
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes.run(configure, doing=f"configuring the native tests for {abi}")
        processes.run([ninja_program(), "-C", folder, *programs], doing=f"compiling the native tests for {abi}")
    return folder


def kernel_objects(abi: str, folder: Path, processes: Processes) -> Path:
    """All kernels of an ABI as libraries have them, from the object cache: a list for native/CMakeLists.txt."""
    units = [Unit(path) for path, _ in kernel_units.all_units(ABIS[abi].isas)]
    (toolchain,) = library.toolchains((abi,))
    objects = ObjectCache(processes=processes).objects(toolchain, NativeSources((resources.root(),)), units)
    file = folder / "kernel_objects.cmake"
    library.hand_over(file, objects)
    return file


def libraries(folder: Path, program: str) -> list[Path]:
    """The shared libraries that a program loads."""
    return [folder / name for name in _LIBRARIES.get(program, ())]
