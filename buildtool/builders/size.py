"""How many bytes of a stripped library each kernel, each file of the runtime and each model costs; the rest by name.

Two maps of the linker say where everything lies: the tailoring one (objects -> merged object) and the final one
(merged object -> library). Texts and numbers that objects share are merged across objects, so each of them is looked up
by content; it belongs to the first object that holds it. A relocation belongs to the place that it patches. Every byte
of the file is counted once.

LLVM's linker makes libraries of the objects themselves, so that its final map says everything.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from buildtool.builders.built import SizePart, SizeReport
from buildtool.plan.manifest import UNITS, KernelInfo

_START = "Linker script and memory map"
_ENTRY = re.compile(r"^ (\.\S+)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$")
_LLVM_START = re.compile(r"\s*VMA\s+LMA\s+Size")
_LLVM_ENTRY = re.compile(r"^\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ {9}(\S.*):\((\.[^()]+)\)$")
_LLVM_ITSELF = "<internal>"
_NOT_LOADED = (".debug_", ".comment", ".symtab", ".strtab", ".shstrtab", ".ARM.attributes")  # at no address
_MERGED_TEXT = re.compile(r"\.str1\.\d+$")
_MERGED_NUMBERS = re.compile(r"\.cst(\d+)$")
_MODEL = re.compile(r"\.rodata\.lathe_(model|data)_(\d+)$")
_DEVICE_DATA = {
    ".rodata.lathe_opencl_sources": "opencl: sources of all units",
    ".rodata.lathe_opencl_tuned": "opencl: tuned parameters",
    ".rodata.lathe_opencl_programs": "opencl: compiled programs",
}
_MERGED_OBJECT = "merged.o"
_PADDING = "padding"
_REST = {
    "dynamic symbols": (".dynsym", ".dynstr", ".gnu.hash", ".hash", ".gnu.version", ".gnu.version_r"),
    "calls to libc": (".plt", ".plt.got", ".plt.sec", ".got", ".got.plt", ".rela.plt", ".rel.plt"),
    "dynamic table": (".dynamic",),
    "unwinding": (".eh_frame", ".eh_frame_hdr", ".ARM.exidx", ".ARM.extab"),
    "headers": (".shstrtab",),
}
_REST_OF = {section: name for name, sections in _REST.items() for section in sections}


@dataclass(frozen=True)
class Origin:
    """Whom bytes belong to."""

    group: str  # as in SizePart
    name: str
    operator: str = ""


_REGISTRY = Origin("registry", "registry and API table")


@dataclass(frozen=True)
class _Place:
    """A range of addresses of one origin. `kind` is a field of SizePart."""

    start: int
    end: int
    origin: Origin
    kind: str


@dataclass(frozen=True)
class Objects:
    """What the linker was given: the unit of each object file by its path, and what the units are."""

    units: Mapping[str, str]
    kernels: Sequence[KernelInfo]
    models: Sequence[str]  # names, in the order of the registry

    def origin(self, file: str, section: str) -> Origin:
        """Whom a section of an object file belongs to."""
        if model := _MODEL.match(section):
            what = "graph" if model.group(1) == "model" else "weights"
            return Origin("models", f"{self.models[int(model.group(2))]}: {what}")
        if section in _DEVICE_DATA:
            return Origin("opencl", _DEVICE_DATA[section])
        unit = PurePosixPath(self.units.get(file, ""))
        kernel = next((kernel for kernel in self.kernels if kernel.source == str(unit)), None)
        if kernel is not None:
            return Origin("kernels", kernel.name, kernel.op)
        if unit.parts[:2] == ("native", "ops"):
            return Origin("kernels", unit.name, unit.parent.name)
        if str(unit.parent) == UNITS:
            return Origin("kernels", unit.stem, "shared kernel code")
        if unit.parts[:2] == ("native", "opencl"):
            return Origin("opencl", str(unit.relative_to("native")))
        if unit.parts[:2] == ("native", "vision"):
            return Origin("vision", str(unit.relative_to("native")))
        if unit.parts[:2] == ("native", "hexagon"):
            return Origin("dsp", str(unit.relative_to("native")))
        return (
            Origin("core", unit.name) if unit.parts[:2] in (("native", "runtime"), ("native", "kernel")) else _REGISTRY
        )


def report(library: Path, tailoring_map: Path, final_map: Path, objects: Objects) -> SizeReport:
    """The sizes of a stripped shared library by origin."""
    tailored: dict[str, list[tuple[int, int, Origin]]] = {}
    for section, offset, size, file in entries(tailoring_map.read_text(errors="replace")):
        tailored.setdefault(section, []).append((offset, size, objects.origin(file, section)))
    final = [entry for entry in entries(final_map.read_text(errors="replace")) if entry[2] > 0]
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        places = list(_places(elf, final, tailored, objects))
        bytes_of = _count(elf, places, library.stat().st_size)
    parts = [SizePart(origin.group, origin.name, origin.operator, **fields) for origin, fields in bytes_of.items()]
    kept = (part for part in parts if part.bytes)
    return SizeReport(tuple(sorted(kept, key=lambda part: (-part.bytes, part.group, part.name))))


def entries(text: str) -> Iterator[tuple[str, int, int, str]]:
    """`(section, address, bytes, object file)` of everything that was kept. A long name has a line of its own."""
    if _LLVM_START.match(text):
        for found in filter(None, map(_LLVM_ENTRY.match, text.splitlines())):
            if not found.group(4).startswith(_NOT_LOADED):
                yield found.group(4), int(found.group(1), 16), int(found.group(2), 16), found.group(3)
        return
    kept = text.partition(_START)[2]
    pending = ""
    for line in kept.splitlines():
        match = _ENTRY.match(line)
        if match and (match.group(1) or pending):
            yield match.group(1) or pending, int(match.group(2), 16), int(match.group(3), 16), match.group(4)
        pending = line.strip() if re.fullmatch(r" \.\S+", line) else ""


def _shared(objects: Objects) -> dict[bytes, Origin]:
    """Texts and numbers that the linker may merge, by content, with the first object that holds them."""
    found: dict[bytes, Origin] = {}
    for file in objects.units:
        with Path(file).open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                for piece in _pieces(section.name, section.data() if _is_merged(section.name) else b""):
                    found.setdefault(piece.rstrip(b"\0"), objects.origin(file, section.name))
    return found


def _is_merged(section: str) -> bool:
    return bool(_MERGED_TEXT.search(section) or _MERGED_NUMBERS.search(section))


def _pieces(section: str, contents: bytes) -> list[bytes]:
    """What the linker merges one by one: texts, each with the zeros behind it, or numbers of one width."""
    if number := _MERGED_NUMBERS.search(section):
        width = int(number.group(1))
        return [contents[at : at + width] for at in range(0, len(contents), width)]
    return re.findall(rb"[^\0]*\0+|[^\0]+$", contents)


def _places(
    elf: ELFFile,
    final: Sequence[tuple[str, int, int, str]],
    tailored: Mapping[str, Sequence[tuple[int, int, Origin]]],
    objects: Objects,
) -> Iterator[_Place]:
    """Whose each range of addresses is, as far as it came out of an object file."""
    shared = _shared(objects)
    by_llvm = any(file == _LLVM_ITSELF for _, _, _, file in final)
    for section in elf.iter_sections():
        if not _is_loaded(section) or section.name in _REST_OF:
            continue
        start, kind, contents = section["sh_addr"], _kind(section["sh_flags"]), section.data()
        for name, address, size, file in final:
            if not start <= address < start + len(contents):
                continue
            if _is_merged(name) and Path(file).name in (_MERGED_OBJECT, _LLVM_ITSELF):
                at = address
                for piece in _pieces(name, contents[address - start : address - start + size]):
                    yield _Place(at, at + len(piece), shared.get(piece.rstrip(b"\0"), _REGISTRY), kind)
                    at += len(piece)
            elif by_llvm and ".a(" not in file:
                if file == _LLVM_ITSELF:
                    continue  # tables, which are counted by what they are for
                yield _Place(address, address + size, objects.origin(file, name), kind)
            elif Path(file).name != _MERGED_OBJECT:
                yield _Place(address, address + size, Origin("core", "compiler runtime library"), kind)
            else:
                for offset, length, origin in tailored.get(name, ()):
                    yield _Place(address + offset, address + offset + length, origin, kind)


def _is_loaded(section: Any) -> bool:
    return bool(section["sh_flags"] & SH_FLAGS.SHF_ALLOC) and section["sh_type"] != "SHT_NOBITS"


def _kind(flags: int) -> str:
    if flags & SH_FLAGS.SHF_EXECINSTR:
        return "code"
    return "data" if flags & SH_FLAGS.SHF_WRITE else "constants"


def _count(elf: ELFFile, places: list[_Place], total: int) -> dict[Origin, dict[str, int]]:
    """Bytes by origin and kind. What nobody owns has a name, too, and the last of it is padding."""
    bytes_of: dict[Origin, dict[str, int]] = {}

    def add(origin: Origin, kind: str, size: int) -> None:
        fields = bytes_of.setdefault(origin, {})
        fields[kind] = fields.get(kind, 0) + size

    places.sort(key=lambda place: place.start)
    for place in places:
        add(place.origin, place.kind, place.end - place.start)
    starts = [place.start for place in places]
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection) and section.name in (".rela.dyn", ".rel.dyn"):
            for relocation in section.iter_relocations():
                at = bisect.bisect_right(starts, relocation["r_offset"]) - 1
                owned = at >= 0 and relocation["r_offset"] < places[at].end
                owner = places[at].origin if owned else Origin("file", "calls to libc")
                add(owner, "relocations" if owned else "rest", section["sh_entsize"])
        elif section["sh_type"] == "SHT_NOBITS" or (_is_loaded(section) and section.name not in _REST_OF):
            continue
        else:
            add(Origin("file", _REST_OF.get(section.name, "notes")), "rest", section["sh_size"])
    header = elf.header
    add(Origin("file", "headers"), "rest", header["e_ehsize"] + header["e_phnum"] * header["e_phentsize"])
    add(Origin("file", "headers"), "rest", header["e_shnum"] * header["e_shentsize"])
    add(Origin("file", _PADDING), "rest", total - sum(sum(fields.values()) for fields in bytes_of.values()))
    return bytes_of
