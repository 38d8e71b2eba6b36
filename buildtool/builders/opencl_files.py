"""Files of what a GPU found out: compiled programs and tuning, in the form that native/opencl/store.h describes.

A file has a section for each device with its driver.
"""

from __future__ import annotations

import enum
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.builders.package import write_file
from buildtool.errors import BuildError, Where

_HEADER = struct.Struct("<8sIIQQQ")  # magic, version, entries, identity, size, checksum
_CHECKED = 32  # bytes of it, and all entries
_ENTRY = struct.Struct("<QQQQ")  # key, place, length, checksum
_TUNED = struct.Struct("<5I")  # three numbers, the usual time, the best time
_VERSION = 1
FOLDER = "opencl"
_TUNED_NAME = "tuned_opencl_parameter"  # the words of MACE's tools
_PROGRAMS_NAME = "compiled_opencl_kernel"
_MOST_ENTRIES = 4096
_MOST_BYTES = 1 << 28


class Content(enum.Enum):
    """What a file holds."""

    PROGRAMS = b"LatheOCL"
    TUNING = b"LatheTun"

    @property
    def words(self) -> str:
        return "compiled programs" if self is Content.PROGRAMS else "tuned parameters"


class NoDeviceFileError(Exception):
    """What bytes are none of these files, in words."""


@dataclass(frozen=True)
class Section:
    """What belongs to one device with its driver."""

    content: Content
    identity: int
    entries: Mapping[int, bytes]

    def pack(self) -> bytes:
        """The bytes of a file with this section alone."""
        place = _HEADER.size + _ENTRY.size * len(self.entries)
        table, values = [], []
        for key, value in sorted(self.entries.items()):
            table.append(_ENTRY.pack(key, place, len(value), _fnv1a(value)))
            values.append(value)
            place += len(value)
        checked = _HEADER.pack(self.content.value, _VERSION, len(table), self.identity, place, 0)[:_CHECKED]
        entries = b"".join(table)
        return b"".join((checked, _fnv1a(checked + entries).to_bytes(8, "little"), entries, *values))

    def gain(self) -> tuple[int, int]:
        """Of tuning: the nanoseconds of all launches that differ, without it and with it."""
        tuned = [_TUNED.unpack(value) for value in self.entries.values() if len(value) == _TUNED.size]
        # The third number of a launch is 0 only where all are; of a node it always is.
        times = [(usual, best) for x, y, z, usual, best in tuned if z or not (x or y)]
        return sum(usual for usual, _ in times), sum(best for _, best in times)


def parse(data: bytes) -> list[Section]:
    """The sections of a file. NoDeviceFileError where it is damaged, or none of these files."""
    if len(data) > _MOST_BYTES:
        raise NoDeviceFileError(f"it has more than {_MOST_BYTES >> 20} MiB")
    sections: list[Section] = []
    rest = memoryview(data)
    while rest or not sections:
        section, size = _first(rest)
        sections.append(section)
        rest = rest[size:]
    if len({section.content for section in sections}) > 1:
        raise NoDeviceFileError("it holds compiled programs and tuned parameters")
    return sections


def _first(data: memoryview) -> tuple[Section, int]:
    if len(data) < _HEADER.size or bytes(data[:8]) not in {content.value for content in Content}:
        raise NoDeviceFileError("it contains neither compiled OpenCL programs nor tuned parameters")
    magic, version, count, identity, size, checksum = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise NoDeviceFileError(f"it has version {version} of the format; this Lathe knows {_VERSION}")
    end = _HEADER.size + count * _ENTRY.size
    if count > _MOST_ENTRIES or not end <= size <= len(data):
        raise NoDeviceFileError("it is truncated or damaged: its length differs from its header")
    if _fnv1a(bytes(data[:_CHECKED]) + bytes(data[_HEADER.size : end])) != checksum:
        raise NoDeviceFileError("it is damaged: a checksum does not match")
    entries: dict[int, bytes] = {}
    for key, place, length, wanted in _ENTRY.iter_unpack(data[_HEADER.size : end]):
        value = bytes(data[place : place + length])
        if place != end or len(value) != length or place + length > size or _fnv1a(value) != wanted:
            raise NoDeviceFileError("it is damaged: an entry is invalid")
        entries[key] = value
        end += length
    if end != size or len(entries) != count:
        raise NoDeviceFileError("it is damaged: it has data after its entries")
    return Section(Content(magic), identity, entries), size


def merge(files: Iterable[bytes]) -> bytes:
    """One file with the contents of these. Of two tuned parameters for the same thing the faster one stays."""
    return b"".join(section.pack() for section in merged(section for data in files for section in parse(data)))


def merged(sections: Iterable[Section]) -> list[Section]:
    """One section for each device, with all that these hold. NoDeviceFileError where that is too much."""
    found: dict[int, Section] = {}
    for section in sections:
        known = found.setdefault(section.identity, Section(section.content, section.identity, {}))
        entries = dict(known.entries)
        for key, value in section.entries.items():
            if key not in entries or _is_faster(section.content, value, entries[key]):
                entries[key] = value
        if len(entries) > _MOST_ENTRIES:
            raise NoDeviceFileError(f"makes {len(entries)} entries for one device; {_MOST_ENTRIES} fit into a file")
        found[section.identity] = Section(section.content, section.identity, entries)
    return list(found.values())


def _is_faster(content: Content, value: bytes, known: bytes) -> bool:
    if content is not Content.TUNING or not len(value) == len(known) == _TUNED.size:
        return False
    return bool(_TUNED.unpack(value)[4] < _TUNED.unpack(known)[4])


def tuned_in(folder: Path, model: str) -> tuple[Path, ...]:
    """The tuned parameters of a model in the folder of a build."""
    found = (folder / FOLDER).glob(f"*_{_TUNED_NAME}.*.bin")
    return tuple(sorted(file for file in found if file.name.startswith(f"{model}_{_TUNED_NAME}.")))


def tuned_name(model: str, device: str, chip: str) -> str:
    """Where the tuned parameters of a model are kept, in the folder of a build."""
    return f"{FOLDER}/{model}_{_TUNED_NAME}.{_word(device)}.{_word(chip)}.bin"


def programs_name(library: str, device: str, chip: str) -> str:
    """Where the compiled programs of a library are kept, in the folder of a build."""
    return f"{FOLDER}/{library}_{_PROGRAMS_NAME}.{_word(device)}.{_word(chip)}.bin"


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower() or "unknown"


def read(file: Path) -> list[Section]:
    """The sections of a file. BuildError where it is none of these files."""
    try:
        return parse(file.read_bytes())
    except NoDeviceFileError as problem:
        raise BuildError(
            f"this file cannot be used: {problem}",
            where=Where(file=str(file)),
            rule="files that `lathe tune` made for models with runtime: gpu or cpu+gpu",
        ) from problem


def merge_files(files: Iterable[Path], output: Path) -> dict[str, Any]:
    """Merge the files into one and return its description. BuildError names the file that does not fit."""
    sections: list[Section] = []
    for file in files:
        try:
            sections = merged([*sections, *_of_one_kind(sections, read(file))])
        except NoDeviceFileError as problem:
            raise BuildError(
                f"this file {problem}",
                where=Where(file=str(file)),
                rule="compiled programs are merged with compiled programs, tuned parameters with tuned parameters",
            ) from problem
    write_file(output, b"".join(section.pack() for section in sections))
    return {
        "written": str(output),
        "content": sections[0].content.words,
        "devices": len(sections),
        "entries": sum(len(section.entries) for section in sections),
    }


def _of_one_kind(known: list[Section], new: list[Section]) -> list[Section]:
    if known and known[0].content is not new[0].content:
        raise NoDeviceFileError(f"contains {new[0].content.words}, the files before it {known[0].content.words}")
    return new


def _fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value
