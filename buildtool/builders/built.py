"""What the builders hand on: one library for one ABI, and what is inside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtool.errors import BuildError


@dataclass(frozen=True)
class LibraryInfo:
    """What a library says about itself, stripped or not."""

    path: Path
    library: str  # from the note section; empty for files that Lathe did not make
    version: str  # of Lathe
    machine: str  # x86-64, AArch64, ARM ...
    kernels: tuple[str, ...]  # from the note section
    exported: tuple[str, ...]  # dynamic symbols that it defines
    needed: tuple[str, ...]  # shared libraries
    glibc: str  # the newest symbol version that it needs; empty for none
    bytes_stripped: int

    def as_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "library": self.library,
            "version": self.version,
            "machine": self.machine,
            "kernels": list(self.kernels),
            "exported": list(self.exported),
            "needed": list(self.needed),
            "glibc": self.glibc,
            "bytes_stripped": self.bytes_stripped,
        }


@dataclass(frozen=True)
class SizePart:
    """Bytes of a stripped library that have one origin."""

    group: str  # kernels, core (the runtime), opencl, dsp, vision, models, registry, file (what its format needs)
    name: str
    operator: str = ""  # of a kernel
    code: int = 0
    constants: int = 0
    data: int = 0
    relocations: int = 0
    rest: int = 0

    @property
    def bytes(self) -> int:
        return self.code + self.constants + self.data + self.relocations + self.rest


@dataclass(frozen=True)
class SizeReport:
    """Where every byte of a stripped library comes from."""

    parts: tuple[SizePart, ...]  # the largest first

    @property
    def total(self) -> int:
        """The size of the file."""
        return sum(part.bytes for part in self.parts)

    @property
    def operators(self) -> dict[str, int]:
        """Bytes by operator: its kernels and what they share."""
        return self._sums("kernels", "operator")

    @property
    def kernels(self) -> dict[str, int]:
        """Bytes by kernel, and by file that several kernels of an operator share."""
        return self._sums("kernels", "name")

    def group(self, name: str) -> int:
        """Bytes of all parts of a group."""
        return sum(part.bytes for part in self.parts if part.group == name)

    def _sums(self, group: str, key: str) -> dict[str, int]:
        sums: dict[str, int] = {}
        for part in self.parts:
            if part.group == group:
                word = getattr(part, key)
                sums[word] = sums.get(word, 0) + part.bytes
        return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))

    def as_json(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "kernels": self.kernels,
            "operators": self.operators,
            "core": self.group("core"),
            "opencl": self.group("opencl"),
            "dsp": self.group("dsp"),
            "vision": self.group("vision"),
            "weights": self.group("models"),
            "registry": self.group("registry"),
            "file": self.group("file"),
            "parts": [{**vars(part), "bytes": part.bytes} for part in self.parts],
        }


@dataclass(frozen=True)
class BuiltLibrary:
    """A library for one ABI as the linker left it, in a work folder; `package.assemble` copies it to the output."""

    name: str
    abi: str
    shared: Path  # lib<name>.so or <name>.wasm, stripped; for Apple's systems the archive
    archive: Path | None  # lib<name>.a, one object, everything but the API function local; modules have none
    unstripped: Path  # the twin of `shared` with all symbols
    info: LibraryInfo
    sizes: SizeReport
    compiler: str  # which one it was: the first line of `c++ --version`
    compiled: int = 0  # objects that had to be compiled for it
    reused: int = 0  # objects that came from the cache
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)  # seconds by stage, for --verbose

    @property
    def static(self) -> Path:
        """The static library of an ABI that has one."""
        if self.archive is None:
            raise BuildError(f"there is no static library for '{self.abi}'", rule="nothing is linked with a module")
        return self.archive


@dataclass(frozen=True)
class BuiltImage:
    """A program for a bare chip."""

    name: str
    elf: bytes
    binary: bytes
    memory_bytes: int  # what it takes up of the chip's memory, zeros and all but the stack included


@dataclass(frozen=True)
class BuiltArchive:
    """A static library for a bare chip."""

    name: str
    data: bytes
    code_bytes: int  # of its sections, as they are before a linker leaves out what nobody calls
    constant_bytes: int
    linked: Mapping[str, int] = field(default_factory=dict)  # bytes of flash, by model with a limit


@dataclass(frozen=True)
class BuiltFirmware:
    """The programs of a library for one chip."""

    name: str
    abi: str
    images: tuple[BuiltImage, ...]
    compiler: str  # the first line of `gcc --version`
    seconds: float = 0.0
    archives: tuple[BuiltArchive, ...] = ()
