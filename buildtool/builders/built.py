"""What the builders hand on: one library for one ABI, and what is inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class LibraryInfo:
    """What an ELF file says about itself, stripped or not."""

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
class SizeReport:
    """Bytes of code and read-only data by kernel, by operator, and of the rest."""

    kernels: dict[str, int]
    operators: dict[str, int]
    core: int  # runtime
    weights: int  # models inside the library
    total: int  # of the stripped file

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class BuiltLibrary:
    """A library for one ABI as the linker left it, in a work folder; `package.assemble` copies it to the output."""

    name: str
    abi: str
    shared: Path  # lib<name>.so, stripped
    static: Path  # lib<name>.a, one object, everything but the API function local
    unstripped: Path  # the twin of `shared` with all symbols
    info: LibraryInfo
    sizes: SizeReport
    compiled: int = 0  # objects that had to be compiled for it
    reused: int = 0  # objects that came from the cache
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)  # seconds by stage, for --verbose
