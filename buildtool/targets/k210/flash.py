"""What goes to the flash memory of a board with a K210, and where: as a package for flashing tools, and byte by byte.

At start the chip loads a program from the beginning of the flash memory into its RAM: a byte of flags, four bytes of
length, the program, and the SHA-256 of all of these. Models lie behind it as they are.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from buildtool.errors import ConfigError, UnsupportedError

PROGRAM_AT, MODELS_AT = 0, 0x300000
FLASH_BYTES, PROGRAM_BYTES = 16 << 20, 6 << 20
_BLOCK = 1 << 16
_PLAIN = 0  # flags: not encrypted, four data lines
_VERSION = "0.1.0"  # of the list in a package
_BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time, for zip files


@dataclass(frozen=True)
class Part:
    """A file of a package. A program gets length and sum around it, by whoever writes it."""

    name: str
    address: int
    data: bytes
    is_program: bool = False

    @property
    def written(self) -> bytes:
        """What the flash memory holds at the address."""
        if not self.is_program:
            return self.data
        headed = struct.pack("<BI", _PLAIN, len(self.data)) + self.data
        return headed + hashlib.sha256(headed).digest()

    @property
    def end(self) -> int:
        return self.address + len(self.written)


def parts(name: str, program: bytes, models: Mapping[str, bytes]) -> tuple[Part, ...]:
    """A program at the beginning, and models from 0x300000 on, or from behind a longer program."""
    if not program:
        raise ConfigError("the program is empty", rule="the program is the image loaded at 0x80000000: a .bin file")
    if len(program) > PROGRAM_BYTES:
        raise UnsupportedError(
            f"the program has {len(program)} bytes",
            rule=f"the chip loads up to {PROGRAM_BYTES} into its memory",
            remedy="load the models from flash memory in the program, and package it with --program",
        )
    found = [Part(f"{name}.bin", PROGRAM_AT, program, is_program=True)]
    at = max(MODELS_AT, _next(found[0].end))
    for model, data in models.items():
        found.append(Part(f"{model}.kmodel", at, data))
        at = _next(found[-1].end)
    if found[-1].end > FLASH_BYTES:
        raise UnsupportedError(
            f"program and models end at {found[-1].end:#x}",
            rule=f"the flash memory of boards has {FLASH_BYTES} bytes",
            remedy="package fewer models, or smaller ones",
        )
    return tuple(found)


def _next(end: int) -> int:
    return -(-end // _BLOCK) * _BLOCK


def package(found: tuple[Part, ...]) -> bytes:
    """A .kfpkg: a zip file with flash-list.json, as kflash reads it. Equal parts give equal bytes."""
    files = [{"address": part.address, "bin": part.name, "sha256Prefix": part.is_program} for part in found]
    listed = json.dumps({"version": _VERSION, "files": files}, indent=2) + "\n"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in (("flash-list.json", listed.encode()), *((part.name, part.data) for part in found)):
            entry = zipfile.ZipInfo(name, _BEGINNING)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def contents(found: tuple[Part, ...]) -> bytes:
    """The flash memory from its beginning to the end of the last part."""
    made = bytearray(b"\xff" * max(part.end for part in found))
    for part in found:
        made[part.address : part.end] = part.written
    return bytes(made)
