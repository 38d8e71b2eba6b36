"""Reads Mach-O, the object format of Apple's systems: checks what was built, and says what is inside."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildtool.builders.built import LibraryInfo, SizePart, SizeReport
from buildtool.builders.size import Objects, Origin
from buildtool.errors import BuildError, Problem, Where

MAGIC = b"\xcf\xfa\xed\xfe"  # 64 bits, little endian
_ARCHIVE = b"!<arch>\n"
_SEGMENT_64, _SYMTAB, _BUILD_VERSION, _VERSION_MIN_MACOS, _VERSION_MIN_IOS = 0x19, 0x2, 0x32, 0x24, 0x25
_STABS, _TYPE, _EXTERNAL, _PRIVATE = 0xE0, 0x0E, 0x01, 0x10  # of a symbol's kind
_ZERO_FILLED = (0x1, 0xC, 0x12)  # sections that are at no place of the file
_MACHINES = {0x0100000C: "arm64", 0x01000007: "x86_64"}
#: Of Xcode: the platform's word and that of its variant.
_PLATFORMS = {1: ("macos", ""), 2: ("ios", ""), 6: ("ios", "maccatalyst"), 7: ("ios", "simulator")}
_CXX_RUNTIME = ("__ZNS", "__ZNK", "__ZSt", "__ZNSt", "__Znw", "__Zna", "__Zdl", "__Zda", "___cxa_", "___gxx_")


@dataclass(frozen=True)
class Section:
    """A section of an object file."""

    segment: str
    name: str
    size: int
    flags: int


@dataclass(frozen=True)
class Symbol:
    """A symbol of an object file that is no debugging information."""

    name: str
    defined: bool
    visible: bool  # to other objects


@dataclass(frozen=True)
class MachO:
    """What a file says of itself."""

    machine: str
    platform: tuple[str, str]  # macos, ios; and simulator or maccatalyst
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    note: dict[str, list[str]]

    @property
    def exported(self) -> tuple[str, ...]:
        """The symbols that others can use, as C writes them."""
        return tuple(sorted(s.name.removeprefix("_") for s in self.symbols if s.defined and s.visible))

    @property
    def undefined(self) -> tuple[str, ...]:
        """The symbols that it needs."""
        return tuple(sorted(s.name for s in self.symbols if not s.defined))


def is_library(path: Path) -> bool:
    """Whether a file is a Mach-O object, or an archive of one."""
    with path.open("rb") as stream:
        begin = stream.read(1 << 16)
    return begin.startswith(MAGIC) or (begin.startswith(_ARCHIVE) and MAGIC in begin and b"\x7fELF" not in begin)


def read(path: Path) -> MachO:
    """The object, or the one object of an archive. BuildError where there is none."""
    try:
        data = path.read_bytes()
        return _facts(memoryview(data)[_start(data) :])
    except (ValueError, IndexError, struct.error, UnicodeDecodeError) as problem:
        raise BuildError(
            f"this is not a library for Apple's systems, or it is damaged: {problem}",
            where=Where(file=str(path)),
            remedy="name a lib*.a that lathe build made",
        ) from problem


def inspect_library(path: Path) -> LibraryInfo:
    """What a library is. BuildError where the file is none."""
    found = read(path)
    return LibraryInfo(
        path=path,
        library=(found.note.get("library") or [""])[0],
        version=(found.note.get("version") or [""])[0],
        machine=f"{found.machine}, {' '.join(filter(None, found.platform))}",
        kernels=tuple(found.note.get("kernel", [])),
        exported=found.exported,
        needed=(),
        glibc="",
        bytes_stripped=path.stat().st_size,
    )


def check_library(path: Path, api: str) -> None:
    """BuildError with every promise that a library breaks. `api`: the one symbol that it shows."""
    found = read(path)
    broken = []
    if found.exported != (api,):
        others = ", ".join(name for name in found.exported if name != api) or "nothing"
        broken.append((f"the library shows {others[:200]}", f"a library shows {api}, and nothing else"))
    if runtime := [name for name in found.undefined if name.startswith(_CXX_RUNTIME)]:
        broken.append((f"the library needs {', '.join(runtime[:8])}", "a library needs nothing of a C++ runtime"))
    if any(section.name == "__mod_init_func" and section.size for section in found.sections):
        broken.append(("the library runs code when it is loaded", "a library has no initialisers"))
    if broken:
        raise BuildError([Problem(what, Where(file=path.name), rule) for what, rule in broken])


def sizes(library: Path, registry: Path, objects: Objects) -> SizeReport:
    """The sizes of a library by origin: sections of each object, and the rest of the file. `registry`: the object of
    the generated registry, beside those that come from the cache."""
    parts = []
    for path in (*map(Path, objects.units), registry, registry.with_name("weights.o")):
        if not path.is_file():
            continue
        fields: dict[Origin, dict[str, int]] = {}
        for section in read(path).sections:
            if kind := _kind(section):
                own = fields.setdefault(objects.origin(str(path), section.name), {})
                own[kind] = own.get(kind, 0) + section.size
        parts += [SizePart(origin.group, origin.name, origin.operator, **own) for origin, own in fields.items()]
    parts.append(SizePart("file", "headers, symbols, relocations", rest=library.stat().st_size - _sum(parts)))
    return SizeReport(tuple(sorted(parts, key=lambda part: (-part.bytes, part.group, part.name))))


def _sum(parts: list[SizePart]) -> int:
    return sum(part.bytes for part in parts)


def _kind(section: Section) -> str:
    if section.flags & 0xFF in _ZERO_FILLED or section.segment in ("__DWARF", "__LD"):
        return ""
    if section.name == "__text":
        return "code"
    return "data" if section.segment == "__DATA" and section.name != "__const" else "constants"


def _start(data: bytes) -> int:
    """Where the object begins. An archive has members with a header of 60 bytes; names that are long follow it."""
    if data.startswith(MAGIC):
        return 0
    if not data.startswith(_ARCHIVE):
        raise ValueError("it begins as something else")
    at = len(_ARCHIVE)
    while at + 60 <= len(data):
        name, size = data[at : at + 16].decode("ascii").strip(), int(data[at + 48 : at + 58].decode("ascii"))
        begin = at + 60 + (int(name[3:]) if name.startswith("#1/") else 0)
        if data[begin : begin + 4] == MAGIC:
            return begin
        at += 60 + size + size % 2
    raise ValueError("the archive has no object of 64 bits")


def _facts(data: memoryview) -> MachO:
    magic, cpu, _, _, count, _, _, _ = struct.unpack_from("<4s7I", data)
    if magic != MAGIC:
        raise ValueError("it begins as something else")
    sections: list[Section] = []
    symbols: list[Symbol] = []
    note: dict[str, list[str]] = {}
    platform = ("", "")
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, at)
        if size < 8:
            raise ValueError("a load command without an end")
        if command == _SEGMENT_64:
            for section, place in _sections(data, at):
                sections.append(section)
                if section.name == "__lathe":
                    note = _note(bytes(data[place : place + section.size]))
        elif command == _SYMTAB:
            symbols += _symbols(data, *struct.unpack_from("<4I", data, at + 8))
        elif command == _BUILD_VERSION:
            platform = _PLATFORMS.get(struct.unpack_from("<I", data, at + 8)[0], ("unknown", ""))
        elif command in (_VERSION_MIN_MACOS, _VERSION_MIN_IOS):
            platform = ("macos" if command == _VERSION_MIN_MACOS else "ios", "")
        at += size
    return MachO(_MACHINES.get(cpu, f"processor {cpu:#x}"), platform, tuple(sections), tuple(symbols), note)


def _sections(data: memoryview, at: int) -> Iterator[tuple[Section, int]]:
    """The sections of a segment, and where they begin in the file."""
    (count,) = struct.unpack_from("<I", data, at + 64)
    for number in range(count):
        fields = struct.unpack_from("<16s16s2Q8I", data, at + 72 + 80 * number)
        name, segment = (field.rstrip(b"\0").decode("ascii") for field in fields[:2])
        yield Section(segment, name, fields[3], fields[8]), fields[4]


def _symbols(data: memoryview, place: int, count: int, texts: int, length: int) -> Iterator[Symbol]:
    strings = bytes(data[texts : texts + length])
    for number in range(count):
        index, kind, _, _, value = struct.unpack_from("<IBBHQ", data, place + 16 * number)
        if kind & _STABS:
            continue
        name = strings[index : strings.index(b"\0", index)].decode("utf-8")
        defined = bool(kind & _TYPE) or (bool(kind & _EXTERNAL) and value != 0)  # common symbols have a size
        yield Symbol(name, defined, bool(kind & _EXTERNAL) and not kind & _PRIVATE)


def _note(text: bytes) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for line in text.rstrip(b"\0").decode("utf-8").splitlines():
        key, _, value = line.partition(" ")
        values.setdefault(key, []).append(value)
    return values
