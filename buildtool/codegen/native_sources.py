"""Which native files a library is made of: the core, the kernels that it keeps, and every header that they include."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from buildtool.codegen import kernel_units
from buildtool.errors import BuildError, Where
from buildtool.plan.manifest import UNITS

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.MULTILINE)
_INCLUDE_FOLDERS = ("", "native/include", "include")  # below each root; the compiler gets the same


@dataclass
class NativeSources:
    """The sources under some folders that each hold `native/`: Lathe's own and those of the user's operators.

    Paths are relative to such a folder; the first folder that has one wins. Files are read once.
    """

    roots: Sequence[Path]
    _contents: dict[str, bytes | None] = field(default_factory=dict)
    _includes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def of_tree(files: Mapping[str, bytes]) -> NativeSources:
        """The sources of a generated tree, which need not be on disk."""
        return NativeSources((), dict(files))

    def read(self, path: str) -> bytes:
        """BuildError where no folder has the file."""
        contents = self._find(path)
        if contents is None:
            raise BuildError("this source file is missing", where=Where(file=path), remedy="install lathe-build again")
        return contents

    def has(self, path: str) -> bool:
        """Whether a folder has the file."""
        return self._find(path) is not None

    def _find(self, path: str) -> bytes | None:
        if path not in self._contents:
            self._contents[path] = None
            for root in self.roots:
                if (root / path).is_file():
                    self._contents[path] = (root / path).read_bytes()
                    break
            else:
                self._contents[path] = kernel_units.unit(path, self.roots)
        return self._contents[path]

    def core(self) -> list[str]:
        """The units that every library holds: the runtime and native/kernel (the linker drops what it does not reach).

        Those of native/kernel that are compiled once per instruction set come with the kernels that need them.
        """
        folders = (self.roots[0] / "native" / name for name in ("runtime", "kernel"))
        found = (path for folder in folders for path in folder.rglob("*.cc") if "__" not in path.stem)
        return sorted(path.relative_to(self.roots[0]).as_posix() for path in found)

    def vision(self) -> list[str]:
        """The functions for images, without the rows for instruction sets."""
        found = (self.roots[0] / "native" / "vision").glob("*.cc")
        kept = (path for path in found if "__" not in path.stem and path.stem != "functions")
        return sorted(path.relative_to(self.roots[0]).as_posix() for path in kept)

    def dsp_core(self) -> list[str]:
        """The same of a program on the DSP, which has an interface of its own, no files, and other threads."""
        own = (self.roots[0] / "native" / "hexagon" / "program").glob("*.cc")
        there = sorted(path.relative_to(self.roots[0]).as_posix() for path in own)
        elsewhere = {f"native/runtime/{name}.cc" for name in ("api", "handles", "file_map", "threads", "cores")}
        return [*(path for path in self.core() if path not in elsewhere), *there]

    def wasm_core(self) -> list[str]:
        """The same of a WebAssembly module: no files, no threads, and what a page has instead of a system."""
        own = (self.roots[0] / "native" / "wasm").glob("*.cc")
        there = sorted(path.relative_to(self.roots[0]).as_posix() for path in own)
        elsewhere = {f"native/runtime/{name}.cc" for name in ("file_map", "threads", "cores")}
        return [*(path for path in self.core() if path not in elsewhere), *there]

    def core_of(self, object_format: str) -> list[str]:
        """The same of a library that is stored in this way. Apple's systems bind no threads to cores."""
        if object_format == "macho":
            return [path for path in self.core() if path != "native/runtime/cores.cc"]
        return self.wasm_core() if object_format == "wasm" else self.core()

    def public_headers(self, *interfaces: str) -> list[str]:
        """The headers that the user of a library includes: those of Lathe's own interface, and of others by name."""
        include = self.roots[0] / "native" / "include"
        found = [path for name in ("lathe", *interfaces) for path in (include / name).rglob("*.h")]
        found += [path for name in interfaces for path in include.glob(f"{name}_*.h")]  # those that have no folder
        return sorted(path.relative_to(self.roots[0]).as_posix() for path in found)

    def units(self, kernels: Iterable[str]) -> list[str]:
        """The units of these kernels: themselves, and what is compiled for the headers that they include.

        That is `x.cc` for each `x.h` of native/ops, native/opencl and native/hexagon, and for each `x.h` of
        native/kernel the unit of units.yaml for the same instruction set. The units of devices bring those of their
        own headers.
        """
        found = set(kernels)
        todo = list(found)
        while todo:
            kernel = PurePosixPath(todo.pop())
            isa = kernel.stem.rpartition("__")[2]
            included = self.closure(str(kernel))
            for header in included:
                unit = _unit_of(PurePosixPath(header), isa)
                if unit and unit not in found and unit not in included and self.has(unit):
                    found.add(unit)
                    if _is_of_device(PurePosixPath(unit)):
                        todo.append(unit)
        return sorted(found)

    def closure(self, path: str) -> list[str]:
        """The file and all of its own headers, through any number of steps, sorted. Conditions are not looked at."""
        seen = {path}
        todo = [path]
        while todo:
            for header in self._own_includes(todo.pop()):
                if header not in seen:
                    seen.add(header)
                    todo.append(header)
        return sorted(seen)

    def _own_includes(self, path: str) -> tuple[str, ...]:
        if path not in self._includes:
            self._includes[path] = tuple(self._resolve(path))
        return self._includes[path]

    def _resolve(self, path: str) -> Iterator[str]:
        for quote, name in _INCLUDE.findall(self.read(path)):
            text = name.decode("utf-8", errors="replace")
            beside = [str(PurePosixPath(path).parent / text)] if quote == b'"' else []
            for candidate in (*beside, *(f"{folder}/{text}".lstrip("/") for folder in _INCLUDE_FOLDERS)):
                normal = _normal(candidate)
                if normal and self._find(normal) is not None:
                    yield normal
                    break


def _unit_of(header: PurePosixPath, isa: str) -> str:
    """Where the code of a header would be, for kernels of an instruction set; empty for what is no such header."""
    if header.match("native/kernel/*/*.h"):
        return f"{UNITS}/{header.stem}__{isa}.cc"
    beside = header.match("native/ops/*/*.h") or _is_of_device(header)
    return str(header.with_suffix(".cc")) if beside else ""


def _is_of_device(path: PurePosixPath) -> bool:
    return str(path.parent) in ("native/opencl", "native/hexagon")


def _normal(path: str) -> str:
    """The path without `.` and `..`; empty where it leaves the tree."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
