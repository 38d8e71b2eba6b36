"""Finds the compiler of an ABI and says exactly which one it is."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildtool import resources
from buildtool.builders.process import Processes
from buildtool.errors import ToolchainError

HOST = "host"
_APT_PACKAGES = {
    "g++": "g++",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "arm-linux-gnueabihf-g++": "g++-arm-linux-gnueabihf",
    "clang++-19": "clang-19",
    "riscv64-linux-gnu-g++": "g++-riscv64-linux-gnu",
    "objcopy": "binutils",
    "ar": "binutils",
    "aarch64-linux-gnu-objcopy": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-ar": "binutils-aarch64-linux-gnu",
    "arm-linux-gnueabihf-objcopy": "binutils-arm-linux-gnueabihf",
    "arm-linux-gnueabihf-ar": "binutils-arm-linux-gnueabihf",
    "riscv64-linux-gnu-objcopy": "binutils-riscv64-linux-gnu",
    "riscv64-linux-gnu-ar": "binutils-riscv64-linux-gnu",
    "cmake": "cmake",
    "ninja": "ninja-build",
}

#: ABIs that Clang builds for, with the programs that bring it: the GNU compilers of Debian 12 have no RISC-V vectors.
#: The C library and the other tools are those of the GNU cross compiler.
_CLANG = {"riscv64-linux-gnu": ("clang++-19", "clang++")}


@dataclass(frozen=True)
class Toolchain:
    """The tools that build for one ABI. Equal identities give equal objects from equal sources."""

    abi: str
    cxx: Path
    ar: Path
    objcopy: Path
    version: str  # first line of `c++ --version`
    machine: str  # the triple that the compiler targets
    sysroot: str
    identity: str  # hash of the compiler, its predefined macros, its C library and its assembler
    file: Path  # toolchain file for CMake
    is_own: bool = True  # whether Lathe found the compiler; where CMake did, `identity` tells all that the file says
    macros: frozenset[str] = frozenset()  # what the compiler defines, where CMake found it
    arguments: tuple[str, ...] = ()  # of CMake, for the toolchain file
    target: tuple[str, ...] = ()  # what a compiler for many machines has to be given; CMake knows it from the file

    @property
    def is_android(self) -> bool:
        """Whether it builds for Android."""
        return "__ANDROID__" in self.macros

    @property
    def compile(self) -> tuple[str | Path, ...]:
        """How commands that CMake does not write begin."""
        return (self.cxx, *self.target)

    @property
    def cmake_arguments(self) -> list[str]:
        """What CMake needs to use exactly these tools."""
        compiler = [f"-DCMAKE_CXX_COMPILER={self.cxx}"] if self.is_own else []  # else the file names it
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={';'.join(compiler_launcher())}"] if compiler_launcher() else []
        return [
            f"-DCMAKE_TOOLCHAIN_FILE={self.file}",
            *self.arguments,
            *compiler,
            *launcher,
            f"-DCMAKE_AR={self.ar}",
            f"-DCMAKE_OBJCOPY={self.objcopy}",
        ]

    def parts(self) -> tuple[Path, ...]:
        """The programs that compile, assemble and link, and the C library: where they change, `identity` may."""
        run = functools.partial(Processes().run, error=ToolchainError)
        named = [_program_of(self.compile, name, run) for name in ("cc1plus", "as", "ld")]
        asked = [*self.compile, "-print-file-name=libc.so"]
        named.append(run(asked, doing=f"asking {self.cxx} for its C library").strip())
        found = [self.cxx, self.ar, self.objcopy, *(Path(shutil.which(name) or name) for name in named)]
        return tuple(path.resolve() for path in found if path.is_absolute() and path.exists())

    def for_debuggers(self) -> Toolchain:
        """The same tools, whose objects hold the same code and also lines, types and frames."""
        identity = hashlib.sha256(f"{self.identity}\0debug".encode()).hexdigest()
        return replace(self, identity=identity, arguments=(*self.arguments, "-DCMAKE_BUILD_TYPE=Debug"))


def probe(abi: str) -> Toolchain:
    """The toolchain of an ABI. For the host, CXX (and CC, if CXX is not set) names the compiler.

    ToolchainError names the program that is missing and how to get it.
    """
    if abi in _CLANG:
        compiler = next((name for name in _CLANG[abi] if shutil.which(name)), _CLANG[abi][0])
    else:
        compiler = _host_compiler() if abi == HOST else f"{abi}-g++"
    return _probe(abi, compiler, os.environ.get("PATH", ""))


def cmake_program() -> Path:
    """CMake: the one that is installed beside Lathe, else the one on the PATH."""
    return _bundled("cmake")


def ninja_program() -> Path:
    """Ninja, found like CMake."""
    return _bundled("ninja")


def compiler_launcher() -> tuple[str, ...]:
    """The words before each call of a compiler: ccache, distcc, icecc. What is compiled does not depend on them."""
    words = os.environ.get("LATHE_COMPILER_LAUNCHER") or os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER") or ""
    return tuple(shlex.split(words.replace(";", " ")))


def _host_compiler() -> str:
    if compiler := os.environ.get("CXX"):
        return compiler
    compiler = os.environ.get("CC", "")
    for c_name, cxx_name in (("clang", "clang++"), ("gcc", "g++")):
        if Path(compiler).name.startswith(c_name):
            return compiler[: -len(Path(compiler).name)] + Path(compiler).name.replace(c_name, cxx_name, 1)
    return "g++"


@functools.cache
def _probe(abi: str, compiler: str, search_path: str) -> Toolchain:
    words = shlex.split(compiler)
    if len(words) != 1:
        raise ToolchainError(
            f"the compiler '{compiler}' is more than one word",
            rule="CXX must be the path of a program, without flags or a launcher such as ccache",
            remedy="unset CXX, or set it to the path of a compiler",
        )
    cxx = _find(words[0], abi)
    target = (f"--target={abi}",) if abi in _CLANG else ()
    if target:
        _find(f"{abi}-g++", abi)  # comes with the C library and the linker
    run = functools.partial(Processes().run, error=ToolchainError)
    version = run([cxx, "--version"], doing=f"asking {cxx} for its version").splitlines()[0]
    machine = run([cxx, *target, "-dumpmachine"], doing=f"asking {cxx} for its target").strip()
    sysroot = "" if "clang" in version else run([cxx, "-print-sysroot"], doing=f"asking {cxx} for its sysroot").strip()
    macros = run(
        [cxx, *target, "-x", "c++", "-E", "-dM", "-include", "features.h", os.devnull],
        doing=f"compiling an empty file for {abi}, with the headers of the C library,",
    )
    asked = [_program_of((cxx, *target), "as", run), "--version"]
    assembler = run(asked, doing=f"asking the assembler of {cxx} for its version")
    made_by = version.partition(" ")[2]  # without the name that it was called by
    facts = "\0".join((made_by, machine, sysroot, ordered(macros), assembler.splitlines()[0]))
    prefix = "" if abi == HOST else f"{abi}-"
    return Toolchain(
        abi=abi,
        cxx=cxx,
        ar=_find(f"{prefix}ar", abi),
        objcopy=_find(f"{prefix}objcopy", abi),
        version=version,
        machine=machine,
        sysroot=sysroot,
        identity=hashlib.sha256(facts.encode()).hexdigest(),
        file=resources.toolchains_dir() / f"{abi}.cmake",
        target=target,
    )


def ordered(macros: str) -> str:
    """What the compiler defines. GCC prints it in an order that changes from run to run."""
    return "\n".join(sorted(macros.splitlines()))


def _program_of(compiler: Sequence[str | Path], name: str, run: Callable[..., str]) -> str:
    return run([*compiler, f"-print-prog-name={name}"], doing=f"asking {compiler[0]} for {name}").strip()


def _find(program: str, abi: str) -> Path:
    path = shutil.which(program)
    if path is None:
        package = _APT_PACKAGES.get(program)
        install = f", or: apt-get install {package}" if package else ""
        raise ToolchainError(
            f"'{program}' is missing: this machine cannot build for {abi}",
            rule=_rule(abi),
            remedy=f"install it with: lathe doctor --install{install}",
        )
    return Path(path)


def _rule(abi: str) -> str:
    if abi == HOST:
        return "CXX, CC or g++ on the PATH names the compiler"
    return f"{abi} is built with {'Clang and ' if abi in _CLANG else ''}the GNU tools"


def packages(abi: str) -> tuple[str, ...]:
    """The Debian packages with the compiler of an ABI and its C library."""
    if abi == HOST:
        return ("g++",)
    clang = tuple(name.replace("clang++", "clang") for name in _CLANG.get(abi, ())[:1])
    return (*clang, f"g++-{abi}")


@functools.cache
def _bundled(name: str) -> Path:
    """The program itself, not the Python script that a wheel puts on the PATH: it starts ten times faster."""
    try:
        if name == "cmake":
            import cmake

            folder = Path(cmake.CMAKE_BIN_DIR)
        else:
            import ninja

            folder = Path(ninja.BIN_DIR)
    except (ImportError, AttributeError):
        folder = Path("/nonexistent")
    program = folder / name
    return program if program.is_file() else _find(name, HOST)
