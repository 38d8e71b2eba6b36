"""Builds what runs on Qualcomm's DSP: the program of a library, and the emulated DSP that stands in for a phone's."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from buildtool import resources
from buildtool.builders import entries
from buildtool.builders.disks import writing_to
from buildtool.builders.objects import ObjectCache, Unit, UnitKind
from buildtool.builders.own_library import own_library
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import Toolchain, ordered
from buildtool.codegen.library import dsp_file
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import BuildError, ToolchainError, Where
from buildtool.targets.protocol import TargetProgram

#: The programs that are needed, with the packages of Debian that have them.
PROGRAMS = {
    "clang++": "clang-19",
    "ld.lld": "lld-19",
    "llvm-ar": "llvm-19",
    "llvm-objcopy": "llvm-19",
    "qemu-hexagon": "qemu-user",
}
_HEADERS = "native/hexagon/program/include"
_SIMULATOR = "native/hexagon/simulator"
#: The version that the emulated DSP itself is compiled for; qemu runs programs of later ones, too.
_EMULATED = "v66"
#: What the DSP resolves when it loads a program. Anything else would be refused on a phone.
IMPORTS = frozenset(
    [
        "memcpy",
        "memset",
        "strlen",
        "strcmp",
        "snprintf",
        "vsnprintf",
        "__wrap_malloc",
        "__wrap_free",
        "qurt_hvx_lock",
        "qurt_hvx_unlock",
        "qurt_thread_create",
        "qurt_thread_join",
        "qurt_thread_exit",
        "qurt_thread_get_id",
        "qurt_thread_get_priority",
        "qurt_mutex_init",
        "qurt_mutex_lock",
        "qurt_mutex_unlock",
        "qurt_signal_init",
        "qurt_signal_wait",
        "qurt_signal_destroy",
        "qurt_anysignal_set",
        "HAP_power_set",
    ]
)


@dataclass(frozen=True)
class BuiltDspProgram:
    """A program for one version of the DSP."""

    abi: str  # hexagon-<version>
    file: Path
    bytes: int


@dataclass(frozen=True)
class DspSimulator:
    """What stands in for the DSP of a phone."""

    library: Path  # instead of libcdsprpc.so
    dsp: Path  # the emulated DSP, a program of qemu-hexagon
    emulator: tuple[str, ...]

    def environment(self, programs: Path) -> dict[str, str]:
        """The variables with which applications find it, and their programs in this folder."""
        return {
            "LATHE_HEXAGON_LIBRARY": str(self.library),
            "LATHE_DSP_SIM": str(self.dsp),
            "LATHE_DSP_SIM_QEMU": " ".join(self.emulator),
            "DSP_LIBRARY_PATH": str(programs.resolve()),
        }


def build_programs(
    programs: Sequence[TargetProgram], tree: SourceTree, folder: Path, cache: ObjectCache
) -> tuple[BuiltDspProgram, ...]:
    """The programs of a library, one for each version of the DSP, in this folder; nothing in a dry run."""
    program = next((program.dsp for program in programs if program.dsp is not None), None)
    if program is None:
        return ()
    library = programs[0].library
    kind: UnitKind = "library" if library.messages else "silent"
    built = []
    for version in program.versions:
        abi = f"hexagon-{version}"
        units = [Unit(path, kind) for path in tree.units[abi]]
        objects = cache.objects(toolchain(version), NativeSources.of_tree(tree.files), units)
        file = folder / abi / dsp_file(library.name)
        link_program(cache.processes, list(objects.paths.values()), file, library.identifier)
        if not cache.processes.dry_run:
            built.append(BuiltDspProgram(abi, file, file.stat().st_size))
    return tuple(built)


def link_program(processes: Processes, objects: Sequence[Path], file: Path, identifier: str) -> None:
    """The program of a library, checked unless this is a dry run."""
    entry = f"{identifier}_skel_handle_invoke"
    _link(processes, objects, file, entry)
    if not processes.dry_run:
        check_program(file, entry)


def compiler() -> Path:
    """The one for the DSP. ToolchainError where it is missing."""
    return _find("clang++")


def headers() -> Path:
    """The folder of the C library's headers, as far as the runtime needs them."""
    return resources.root() / _HEADERS


def _link(processes: Processes, objects: Sequence[Path], file: Path, entry: str) -> None:
    exports = file.with_suffix(".map")
    with writing_to(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
        exports.write_text(f"{{ global: {entry}; local: *; }};\n")
    options = ["-shared", "--gc-sections", "--hash-style=sysv", "--build-id=none", "-O1", "--strip-all"]
    options += ["-z", "max-page-size=4096", "-z", "now", "-z", "norelro"]
    command: list[str | Path] = [
        _find("ld.lld"),
        *options,
        f"--soname={file.name}",
        f"--version-script={exports}",
        *objects,
        "-o",
        file,
    ]
    processes.run(command, doing=f"linking {file.name}")


def check_program(file: Path, entry: str) -> None:
    """That a DSP can load the program: what it needs is there, and what FastRPC looks for is in it."""
    exported, imported = symbols_of(file)
    if exported != {entry}:
        raise BuildError(f"the program exports {', '.join(sorted(exported))}", where=Where(str(file)))
    if strange := sorted(imported - IMPORTS):
        raise BuildError(
            f"the program needs {', '.join(strange[:8])}",
            where=Where(str(file)),
            rule="programs on the DSP import what its loader resolves, and nothing else",
        )


def symbols_of(file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The dynamic symbols that a program for the DSP defines, and those that it needs."""
    try:
        with file.open("rb") as handle:
            table = ELFFile(handle).get_section_by_name(".dynsym")
            found = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
    except ELFError as problem:
        raise BuildError(f"this is no ELF file: {problem}", where=Where(str(file))) from problem
    named = [(symbol.name, symbol["st_shndx"] == "SHN_UNDEF") for symbol in found if symbol.name]
    defined = frozenset(name for name, missing in named if not missing)
    return defined, frozenset(name for name, missing in named if missing)


@functools.cache
def toolchain(version: str) -> Toolchain:
    """LLVM for one version of the DSP. ToolchainError names the program that is missing."""
    cxx, processes = _find("clang++"), Processes()
    words: list[str | Path] = [
        cxx,
        "--target=hexagon-unknown-elf",
        f"-m{version}",
        "-mhvx",
        "-x",
        "c++",
        "-E",
        "-dM",
        os.devnull,
    ]
    macros = processes.run(words, doing=f"asking {cxx} for Hexagon {version}", error=ToolchainError)
    said = processes.run([cxx, "--version"], doing=f"asking {cxx} for its version", error=ToolchainError)
    file = resources.toolchains_dir() / "hexagon.cmake"
    digest = hashlib.sha256("\0".join((said.splitlines()[0], ordered(macros), version)).encode())
    headers = sorted((resources.root() / _HEADERS).rglob("*.h"))
    for path in (file, *headers):
        digest.update(path.read_bytes())
    return Toolchain(
        abi=f"hexagon-{version}",
        cxx=cxx,
        ar=_find("llvm-ar"),
        objcopy=_find("llvm-objcopy"),
        version=said.splitlines()[0],
        machine="hexagon",
        sysroot="",
        identity=digest.hexdigest(),
        file=file,
        arguments=(f"-DLATHE_HEXAGON_VERSION={version}",),
    )


def simulator(cache: ObjectCache) -> DspSimulator:
    """The stand-in for a phone's DSP, compiled on first use. ToolchainError where qemu or LLVM is missing."""
    emulator = _find("qemu-hexagon")
    return DspSimulator(_stand_in(cache), _emulated_dsp(cache), (str(emulator), "-cpu", "v67"))


def _stand_in(cache: ObjectCache) -> Path:
    root = resources.root()
    files = [root / _SIMULATOR / "rpc.cc", root / _SIMULATOR / "wire.h", root / "native/hexagon/fastrpc.h"]
    flags = ["-O2", f"-I{root}"]
    return own_library(cache, "libcdsprpc", files, flags, "compiling the stand-in for the DSP", language="c++")


def _emulated_dsp(cache: ObjectCache) -> Path:
    sources = NativeSources((resources.root(),))
    folder = resources.root() / _SIMULATOR / "dsp"
    paths = sorted(path.relative_to(resources.root()).as_posix() for path in folder.glob("*.cc"))
    units = [Unit(path) for path in (*paths, "native/hexagon/program/arithmetic.cc")]
    objects = cache.objects(toolchain(_EMULATED), sources, units)
    digest = hashlib.sha256("\0".join(path.name for path in objects.paths.values()).encode())
    program = cache.folder / "tools" / digest.hexdigest()[:24] / "lathe_dsp"
    if entries.is_sound(program, cache.note):
        return program
    with writing_to(cache.folder):
        program.parent.mkdir(parents=True, exist_ok=True)
        temporary = program.with_name(f".{program.name}.new-{os.getpid()}")
        command: list[str | Path] = [_find("ld.lld"), "-static", "-e", "_start", "--gc-sections"]
        command += [*objects.paths.values(), "-o", temporary]
        cache.processes.run(command, doing="linking the emulated DSP")
        entries.put(temporary, program)
        temporary.unlink(missing_ok=True)
    program.chmod(0o755)
    return program


def search(name: str) -> Path | None:
    """Where a program is; None where it is missing."""
    found = next((path for word in (f"{name}-19", name) if (path := shutil.which(word))), None)
    return Path(found) if found else None


def _find(name: str) -> Path:
    path = search(name)
    if path is None:
        raise ToolchainError(
            f"'{name}' is missing: this machine cannot build programs for the Hexagon DSP",
            rule="they are built with LLVM, and tried in qemu",
            remedy=f"install it with: lathe doctor --install, or: apt-get install {PROGRAMS[name]}",
        )
    return path
