"""Reads libraries: what is in them, what they need, and whether they keep their promises."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection
from elftools.elf.sections import NoteSection, SymbolTableSection

from buildtool.builders.built import LibraryInfo
from buildtool.errors import BuildError, Problem, Where

NOTE_SECTION = ".note.lathe"
_ALLOWED_LIBRARIES = ("libc.so.", "libm.so.", "libpthread.so.", "ld-linux")
_CXX_RUNTIME = ("_Z", "__cxa_", "__gxx_", "_Unwind_")
_STRIPPED = (".symtab", ".strtab", ".debug", ".comment")
_FIRST_GLIBC = {"RISC-V": "2.27"}  # by machine, where there is none as old as the usual floor
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


@dataclass(frozen=True)
class _Elf:
    """What an ELF file holds, in plain types."""

    machine: str
    note: dict[str, list[str]]  # from the note: values by key
    defined: tuple[str, ...]  # global symbols
    undefined: tuple[str, ...]
    needed: tuple[str, ...]
    versions: dict[str, tuple[str, ...]]  # version of a needed symbol -> symbols
    initialisers: int  # bytes of .init_array and .ctors
    bytes_stripped: int


def inspect_library(path: Path) -> LibraryInfo:
    """What a shared or static library is. BuildError where the file is neither."""
    elf = _read(path)
    return LibraryInfo(
        path=path,
        library=(elf.note.get("library") or [""])[0],
        version=(elf.note.get("version") or [""])[0],
        machine=elf.machine,
        kernels=tuple(elf.note.get("kernel", [])),
        exported=elf.defined,
        needed=elf.needed,
        glibc=max((word for word in elf.versions if word.startswith("GLIBC_")), key=_numbers, default="")[6:],
        bytes_stripped=elf.bytes_stripped,
    )


def check_library(path: Path, api: str, glibc_floor: str, besides: tuple[str, ...] = ()) -> None:
    """BuildError with every promise that the library breaks. `api`: the one symbol that it may export.

    `besides`: other libraries that it may need.
    """
    elf = _read(path)
    problems = [
        Problem(what, Where(file=path.name), rule, remedy)
        for what, rule, remedy in _broken(elf, api, glibc_floor, besides)
    ]
    if problems:
        raise BuildError(problems)


def defined_symbols(path: Path) -> tuple[str, ...]:
    """All names in the symbol table, local ones too; empty for a stripped file."""
    with _open(path) as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return ()
        return tuple(sorted({s.name for s in table.iter_symbols() if s.name and s["st_shndx"] != "SHN_UNDEF"}))


def _broken(elf: _Elf, api: str, glibc_floor: str, besides: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    if elf.defined != (api,):
        others = ", ".join(name for name in elf.defined if name != api) or "nothing"
        yield f"the library exports {others}", f"a library exports {api} and nothing else", "mark the symbols as hidden"
    # Drivers of devices are found when a library runs, and before glibc 2.34 a library of its own does that.
    loading = ("libdl.so.",) if elf.note.get("opencl") or elf.note.get("dsp") else ()
    foreign = [name for name in elf.needed if not name.startswith((*_ALLOWED_LIBRARIES, *loading, *besides))]
    if foreign:
        rule = f"a library needs libc, libm{', libpthread and libdl' if loading else ' and libpthread'} only"
        yield f"the library needs {', '.join(foreign)}", rule, "do not use functions of these libraries"
    runtime = [name for name in elf.undefined if name.startswith(_CXX_RUNTIME)]
    if runtime:
        rule = "native code uses no C++ runtime: no new, no containers, no exceptions, no guarded statics"
        yield f"the library needs the C++ runtime: {', '.join(runtime[:8])}", rule, "see docs/architecture.md"
    if elf.initialisers:
        yield "the library runs code when it is loaded", "no static initialisers", "make global objects constexpr"
    glibc_floor = max(glibc_floor, _FIRST_GLIBC.get(elf.machine, ""), key=_numbers)
    for version, symbols in sorted(elf.versions.items()):
        if version.startswith("GLIBC_") and _numbers(version) > _numbers(glibc_floor):
            yield (
                f"{', '.join(symbols)} need glibc {version[6:]}",
                f"glibc_floor is {glibc_floor}",
                f"raise glibc_floor to {version[6:]} in the deployment file, or avoid them",
            )


def _numbers(version: str) -> tuple[int, ...]:
    """2.17 as (2, 17); words that are no numbers (GLIBC_PRIVATE) come before all."""
    parts = version.removeprefix("GLIBC_").split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _open(path: Path) -> io.BytesIO:
    """The ELF file, or the one ELF member of an archive."""
    try:
        contents = path.read_bytes()
    except OSError as problem:
        raise BuildError(f"the library cannot be read: {problem.strerror}", where=Where(file=str(path))) from problem
    if not contents.startswith(_AR_MAGIC):
        return io.BytesIO(contents)
    at = len(_AR_MAGIC)
    while at + _AR_HEADER <= len(contents):
        header = contents[at : at + _AR_HEADER]
        size = int(header[48:58]) if header[48:58].strip().isdigit() else 0
        at += _AR_HEADER
        if contents[at : at + 4] == b"\x7fELF":
            return io.BytesIO(contents[at : at + size])
        at += size + size % 2
    return io.BytesIO(b"")


def _read(path: Path) -> _Elf:
    try:
        with _open(path) as stream:
            return _facts(ELFFile(stream), len(stream.getbuffer()))
    except (ELFError, ValueError, KeyError, UnicodeDecodeError, AssertionError) as problem:
        raise BuildError(
            "this is not a library: it is damaged or not an ELF file",
            where=Where(file=str(path)),
            remedy="name a lib*.so or lib*.a that lathe build made",
        ) from problem


def _facts(elf: ELFFile, size: int) -> _Elf:
    dynamic = elf.get_section_by_name(".dynamic")
    table = elf.get_section_by_name(".dynsym") or elf.get_section_by_name(".symtab")
    symbols = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
    visible = [s for s in symbols if s.name and s["st_info"]["bind"] != "STB_LOCAL"]
    needed: tuple[str, ...] = ()
    if isinstance(dynamic, DynamicSection):
        needed = tuple(str(getattr(tag, "needed", "")) for tag in dynamic.iter_tags("DT_NEEDED"))
    dead = 0
    if elf.get_section_by_name(".symtab"):
        dead = sum(s.data_size for s in elf.iter_sections() if s.name.startswith(_STRIPPED))
    return _Elf(
        machine=str(elf.get_machine_arch()),
        note=_note(elf),
        defined=tuple(sorted(s.name for s in visible if s["st_shndx"] != "SHN_UNDEF")),
        undefined=tuple(sorted(s.name for s in visible if s["st_shndx"] == "SHN_UNDEF")),
        needed=needed,
        versions=_versions(elf, symbols),
        initialisers=sum(s.data_size for s in elf.iter_sections() if s.name.startswith((".init_array", ".ctors"))),
        bytes_stripped=size - dead,
    )


def _note(elf: ELFFile) -> dict[str, list[str]]:
    """The lines of the note, `<key> <value>`, by key."""
    section = elf.get_section_by_name(NOTE_SECTION)
    values: dict[str, list[str]] = {}
    if isinstance(section, NoteSection):
        for note in section.iter_notes():
            for line in _text(note["n_desc"]).splitlines():
                key, _, value = line.partition(" ")
                values.setdefault(key, []).append(value)
    return values


def _text(description: Any) -> str:
    """pyelftools gives the description as text of single bytes, or as bytes, by version."""
    return description.decode() if isinstance(description, bytes) else str(description)


def _versions(elf: ELFFile, symbols: list[Any]) -> dict[str, tuple[str, ...]]:
    needs = elf.get_section_by_name(".gnu.version_r")
    numbers = elf.get_section_by_name(".gnu.version")
    if not isinstance(needs, GNUVerNeedSection) or not isinstance(numbers, GNUVerSymSection):
        return {}
    names = {aux["vna_other"]: aux.name for _, auxiliaries in needs.iter_versions() for aux in auxiliaries}
    found: dict[str, list[str]] = {}
    for index, symbol in enumerate(symbols):
        number = numbers.get_symbol(index)["ndx"]
        if isinstance(number, int) and number & 0x7FFF in names:
            found.setdefault(names[number & 0x7FFF], []).append(symbol.name)
    return {version: tuple(sorted(items)) for version, items in found.items()}
