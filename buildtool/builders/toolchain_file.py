"""Finds out what a toolchain file of the user's own leads to: CMake reads it, and the compiler says what it makes."""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
from pathlib import Path

from buildtool import resources
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import Toolchain, cmake_program, ninja_program, ordered
from buildtool.errors import ToolchainError, Where
from buildtool.wording import near_files

_APPLE = ("Darwin", "iOS", "tvOS", "visionOS", "watchOS")
_DECIDES_NOTHING = frozenset(
    {"compiler", "CMAKE_AR", "CMAKE_OBJCOPY"}
)  # paths: the other facts describe their contents


@functools.cache
def examine(file: Path, abi: str, arguments: tuple[str, ...] = ()) -> Toolchain:
    """The toolchain that a CMake toolchain file describes, as the ABI `abi`. `arguments`: what the file is to know.

    Its identity holds what CMake made of the file, not where it stands, so that equal toolchains share their objects.
    ToolchainError where CMake or the compiler refuse.
    """
    if not file.is_file():
        raise ToolchainError(
            "there is no such toolchain file",
            where=Where(file=str(file)),
            rule="a toolchain file tells CMake which compiler to use (CMAKE_TOOLCHAIN_FILE)",
            remedy=near_files(file) or "correct its path; `lathe where toolchains` prints the folder of Lathe's own",
        )
    with tempfile.TemporaryDirectory(prefix="lathe-toolchain-") as name:
        folder = Path(name)
        shutil.copyfile(resources.cmake_dir() / "LatheToolchain.cmake", folder / "CMakeLists.txt")
        command: list[str | Path] = [cmake_program(), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja_program()}"]
        command += ["-S", folder, "-B", folder / "build", f"-DCMAKE_TOOLCHAIN_FILE={file.absolute()}", *arguments]
        # There, because a compiler that is asked for its version may leave files where it is called.
        doing = f"reading the toolchain file {file} with CMake"
        Processes().run(command, doing=doing, cwd=folder, error=ToolchainError)
        lines = (folder / "build" / "facts.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        macros = (folder / "build" / "macros.txt").read_text(encoding="utf-8", errors="replace")
    facts = dict(line.split("=", 1) for line in lines)
    _check(facts, file, "#define __APPLE__ " in macros)
    return Toolchain(
        abi=abi,
        cxx=Path(facts["compiler"]),
        ar=Path(facts["CMAKE_AR"]),
        objcopy=Path(facts["CMAKE_OBJCOPY"]),
        version=facts["version"],
        machine=facts["CMAKE_CXX_COMPILER_TARGET"] or facts["CMAKE_SYSTEM_PROCESSOR"],
        sysroot=facts["CMAKE_SYSROOT"],
        identity=_identity(facts, macros),
        file=file.absolute(),
        is_own=False,
        arguments=arguments,
        macros=frozenset(line.split()[1] for line in macros.splitlines() if line.startswith("#define ")),
    )


def _identity(facts: dict[str, str], macros: str) -> str:
    """Everything that decides which objects are made."""
    decisive = [f"{key}={value}" for key, value in facts.items() if key not in _DECIDES_NOTHING]
    return hashlib.sha256("\0".join((*decisive, ordered(macros))).encode()).hexdigest()


def _check(facts: dict[str, str], file: Path, apple: bool) -> None:
    """`apple`: whether the compiler makes objects for Apple's systems."""
    if facts["CMAKE_SYSTEM_NAME"] == "Windows":
        raise ToolchainError(
            f"this toolchain builds for {facts['CMAKE_SYSTEM_NAME']}",
            where=Where(file=str(file)),
            rule="this version builds libraries in ELF, Mach-O and WebAssembly",
            remedy="write the sources with --emit=source and compile them with that toolchain",
        )
    if (facts["CMAKE_SYSTEM_NAME"] in _APPLE) != apple:
        raise ToolchainError(
            f"this toolchain builds for {facts['CMAKE_SYSTEM_NAME']}, and its compiler for another system",
            where=Where(file=str(file)),
            rule="compilers for Apple's systems define __APPLE__, and CMAKE_SYSTEM_NAME is Darwin, iOS or another",
            remedy="correct CMAKE_SYSTEM_NAME or CMAKE_CXX_COMPILER in the toolchain file",
        )
    for name in ("CMAKE_AR",) if apple else ("CMAKE_AR", "CMAKE_OBJCOPY"):
        if not Path(facts[name]).is_file():
            raise ToolchainError(
                f"CMake finds no {name.removeprefix('CMAKE_').lower()} for this toolchain",
                where=Where(file=str(file)),
                remedy=f"set {name} in the toolchain file",
            )
