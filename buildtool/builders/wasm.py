"""WebAssembly modules: the compiler for them, what is in one, and whether it keeps its promises."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildtool import resources
from buildtool.builders.built import LibraryInfo, SizePart, SizeReport
from buildtool.builders.process import Processes
from buildtool.builders.size import Objects, Origin
from buildtool.builders.toolchain import Toolchain, ordered
from buildtool.errors import BuildError, Problem, ToolchainError, Where

MAGIC = b"\0asm"
#: What is needed, with the packages of Debian that have it.
PROGRAMS = {"clang++": "clang-19", "wasm-ld": "lld-19", "llvm-ar": "llvm-19", "llvm-objcopy": "llvm-19"}
WASI_ROOT = Path("/usr")
_LIBC = "lib/wasm32-wasi/libc.a"
ABIS = ("wasm32", "wasm32-simd", "wasm32-relaxed-simd", "wasm32-simd-threads", "wasm32-relaxed-simd-threads")
#: What a page gives a module; buildtool/codegen/templates/wasm/module.mjs.j2 has the functions.
IMPORTS = frozenset(["lathe.now", "lathe.node", "lathe.message"])
_EXPORTS = frozenset(["memory", "__indirect_function_table", "aligned_alloc", "free", "lathe_observer"])
#: What a module with threads has beside that: memory of the page, and what its workers call.
_SHARED_MEMORY = "env.memory"
_FOR_WORKERS = frozenset(["lathe_worker", "lathe_worker_add", "__stack_pointer"])
_MAP_ENTRY = re.compile(r"^ *(?:[0-9a-f]+|-) +[0-9a-f]+ +([0-9a-f]+) {9}(\S.*):\((.+)\)$")
_MODEL = re.compile(r"^\.rodata\.lathe_(model|data)_\d+$")


@dataclass(frozen=True)
class _Module:
    """What a module says of itself."""

    note: dict[str, list[str]]  # from the section `lathe`: values by key
    imports: tuple[str, ...]  # module.name
    exports: tuple[str, ...]
    bytes_stripped: int
    pages: int = 0  # of 64 KiB, that an imported memory has at least


def toolchain(abi: str) -> Toolchain:
    """LLVM with wasi-libc. ToolchainError names what is missing."""
    return _toolchain(abi, os.environ.get("PATH", ""))


@functools.cache
def _toolchain(abi: str, search_path: str) -> Toolchain:
    cxx = find("clang++", abi)
    find("wasm-ld", abi)
    if not (WASI_ROOT / _LIBC).is_file():
        raise ToolchainError(
            f"the C library of WebAssembly is missing: this machine cannot build for {abi}",
            rule=f"it is expected at {WASI_ROOT / _LIBC}",
            remedy="install it with: lathe doctor --install, or: apt-get install wasi-libc libclang-rt-19-dev-wasm32",
        )
    run = functools.partial(Processes().run, error=ToolchainError)
    target: list[str | Path] = [cxx, "--target=wasm32-wasi"]
    builtins = Path(run([*target, "-print-libgcc-file-name"], doing=f"asking {cxx} for its library").strip())
    if not builtins.is_file():
        raise ToolchainError(
            f"the compiler's own library for WebAssembly is missing: {builtins}",
            rule=f"{abi} is built with LLVM",
            remedy="install it with: lathe doctor --install, or: apt-get install libclang-rt-19-dev-wasm32",
        )
    macros = run([*target, "-x", "c++", "-E", "-dM", os.devnull], doing=f"asking {cxx} for WebAssembly")
    version = run([cxx, "--version"], doing=f"asking {cxx} for its version").splitlines()[0]
    file = resources.toolchains_dir() / f"{abi}.cmake"
    digest = hashlib.sha256("\0".join((version, ordered(macros), abi)).encode())
    for path in (file, resources.toolchains_dir() / "wasm32.cmake", WASI_ROOT / _LIBC):
        digest.update(path.read_bytes())
    return Toolchain(
        abi=abi,
        cxx=cxx,
        ar=find("llvm-ar", abi),
        objcopy=find("llvm-objcopy", abi),
        version=version,
        machine="wasm32",
        sysroot="",
        identity=digest.hexdigest(),
        file=file,
        arguments=(f"-DLATHE_WASI_ROOT={WASI_ROOT}",),
    )


def find(name: str, abi: str) -> Path:
    """Where a program of LLVM is. ToolchainError where it is missing."""
    found = next((path for word in (f"{name}-19", name) if (path := shutil.which(word))), None)
    if found is None:
        raise ToolchainError(
            f"'{name}' is missing: this machine cannot build for {abi}",
            rule=f"{abi} is built with LLVM",
            remedy=f"install it with: lathe doctor --install, or: apt-get install {PROGRAMS[name]}",
        )
    return Path(found)


def is_module(path: Path) -> bool:
    """Whether a file is a WebAssembly module."""
    with path.open("rb") as stream:
        return stream.read(4) == MAGIC


def inspect_library(path: Path) -> LibraryInfo:
    """What a module is. BuildError where the file is none."""
    module = _read(path)
    return LibraryInfo(
        path=path,
        library=(module.note.get("library") or [""])[0],
        version=(module.note.get("version") or [""])[0],
        machine="WebAssembly",
        kernels=tuple(module.note.get("kernel", [])),
        exported=module.exports,
        needed=(),
        glibc="",
        bytes_stripped=module.bytes_stripped,
    )


def shared_pages(path: Path) -> int:
    """The pages of 64 KiB that a page has to give a module with threads; 0 for others, which have memory themselves."""
    return _read(path).pages


def check_library(path: Path, api: str) -> None:
    """BuildError with every promise that a module breaks. `api`: its function for the C interface."""
    module = _read(path)
    broken = []
    threads = module.pages > 0
    imports = IMPORTS | {_SHARED_MEMORY} if threads else IMPORTS
    exports = {*_EXPORTS, api, *(_FOR_WORKERS if threads else ())}
    if foreign := sorted(set(module.imports) - imports):
        rule = f"a module imports {', '.join(sorted(imports))}, and nothing else"
        broken.append((f"the module imports {', '.join(foreign[:8])}", rule))
    if set(module.exports) != exports:
        rule = f"a module exports {', '.join(sorted(exports))}"
        broken.append((f"the module exports {', '.join(module.exports)}", rule))
    if broken:
        raise BuildError([Problem(what, Where(file=path.name), rule) for what, rule in broken])


def sizes(module: Path, final_map: Path, objects: Objects) -> SizeReport:
    """The sizes of a stripped module by origin: functions and data of each unit, and the rest of the file."""
    found: dict[Origin, dict[str, int]] = {}
    for size, file, section in _entries(final_map.read_text(errors="replace")):
        origin = objects.origin(file, section) if file in objects.units or _MODEL.match(section) else _others(file)
        kind = "constants" if section.startswith(".rodata") else "data" if section.startswith(".data") else "code"
        if section.startswith(".bss"):
            continue  # at no place of the file
        fields = found.setdefault(origin, {})
        fields[kind] = fields.get(kind, 0) + size
    parts = [SizePart(origin.group, origin.name, origin.operator, **fields) for origin, fields in found.items()]
    rest = module.stat().st_size - sum(part.bytes for part in parts)
    parts.append(SizePart("file", "tables of the module", rest=rest))
    return SizeReport(tuple(sorted(parts, key=lambda part: (-part.bytes, part.group, part.name))))


def _others(file: str) -> Origin:
    """What comes from libraries, and the generated registry."""
    if "libc" in file or "libclang_rt" in file:
        return Origin("core", "C library")
    return Origin("core", "merged constants") if file == "<internal>" else Origin("registry", "registry and API table")


def _entries(text: str) -> Iterator[tuple[int, str, str]]:
    """Size, object file and section of all that the linker's map places."""
    for line in text.splitlines():
        if found := _MAP_ENTRY.match(line):
            yield int(found[1], 16), found[2], found[3]
        elif line.endswith("<internal>:(.rodata)"):  # texts that objects share
            yield int(line.split()[-2], 16), "<internal>", ".rodata"


class _Bytes:
    """Reads numbers and names of a module one after another."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return result
            if shift > 35:
                raise ValueError("a number of more than 32 bits")

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("the module ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def name(self) -> str:
        return self.take(self.number()).decode("utf-8")

    def limits(self) -> int:
        """The least size."""
        flags = self.number()
        least = self.number()
        if flags & 1:
            self.number()
        return least


def _read(path: Path) -> _Module:
    try:
        data = path.read_bytes()
        if data[:8] != MAGIC + b"\1\0\0\0":
            raise ValueError("it does not begin as a module")
        return _facts(_Bytes(data[8:]), len(data))
    except (ValueError, IndexError, UnicodeDecodeError) as problem:
        raise BuildError(
            f"this is not a WebAssembly module, or it is damaged: {problem}",
            where=Where(file=str(path)),
            remedy="name a .wasm that lathe build made",
        ) from problem


def _facts(reader: _Bytes, size: int) -> _Module:
    note: dict[str, list[str]] = {}
    imports: dict[str, int] = {}
    exports: tuple[str, ...] = ()
    dead = 0
    while reader.at < len(reader.data):
        began = reader.at
        kind = reader.number()
        section = _Bytes(reader.take(reader.number()))
        if kind == 0:
            name = section.name()
            if name == "lathe":
                note = _note(section.data[section.at :])
            elif name in ("name", "producers", "target_features") or name.startswith(".debug"):
                dead += reader.at - began
        elif kind == 2:
            imports = dict(_imports(section))
        elif kind == 7:
            exports = tuple(sorted(_exports(section)))
    return _Module(note, tuple(imports), exports, size - dead, sum(imports.values()))


def _note(text: bytes) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for line in text.decode("utf-8").splitlines():
        key, _, value = line.partition(" ")
        values.setdefault(key, []).append(value)
    return values


def _imports(section: _Bytes) -> Iterator[tuple[str, int]]:
    """The names, each with the pages of a memory."""
    for _ in range(section.number()):
        name, pages = f"{section.name()}.{section.name()}", 0
        kind = section.number()
        if kind == 0:  # a function: the index of its type
            section.number()
        elif kind == 1:  # a table: the type of its elements, and its limits
            section.number()
            section.limits()
        elif kind == 2:  # a memory
            pages = section.limits()
        elif kind == 3:  # a global: its type, and whether it may change
            section.take(2)
        else:
            raise ValueError(f"an import of the unknown kind {kind}")
        yield name, pages


def _exports(section: _Bytes) -> Iterator[str]:
    for _ in range(section.number()):
        yield section.name()
        section.number()
        section.number()
