"""A generated source tree as data. Written to disk by the one function here, which touches only what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Image:
    """A program for a bare chip. Compilers run in the folder of the tree, so that all paths may be relative to it."""

    name: str  # of its files: <name>.elf, and <name>.bin, which is what the chip's memory holds from its start on
    sources: tuple[str, ...]  # C and assembler, of the tree
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]  # beside those; what stands behind the objects


@dataclass(frozen=True)
class Limited:
    """A model of a library whose flash is limited, as a program takes it that calls some functions."""

    model: str
    functions: tuple[str, ...]
    bytes: int
    can_shrink: bool  # whether a smaller limit would make a smaller program


@dataclass(frozen=True)
class Archive:
    """A static library for a bare chip: lib<name>.a."""

    name: str
    sources: tuple[str, ...]
    compile_flags: tuple[str, ...]
    limits: tuple[Limited, ...] = ()


@dataclass(frozen=True)
class SourceTree:
    """The sources of one library, for all its ABIs: `{path relative to the tree: contents}`, in sorted order.

    The tree builds by itself with `cmake --preset <abi> && cmake --build --preset <abi>`. The builders use the same
    CMake project but hand it objects from the cache instead of letting it compile core and kernels.
    """

    library: str  # as in the deployment file: the name of folders and files
    files: Mapping[str, bytes]
    units: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # by ABI: core and kernels, which a cache may hold
    images: Mapping[str, tuple[Image, ...]] = field(default_factory=dict)  # by ABI, of firmware
    archives: Mapping[str, tuple[Archive, ...]] = field(default_factory=dict)  # the same

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.files))

    def write(self, folder: Path) -> list[Path]:
        """Make `folder` hold exactly this tree. Files that have the right bytes already keep their time stamps.

        Returns the paths that were written. Files that are not of the tree are removed, but for a folder `build`.
        """
        written = []
        for name in self:
            path = folder / name
            contents = self.files[name]
            if path.is_file() and path.stat().st_size == len(contents) and path.read_bytes() == contents:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
            written.append(path)
        for path in sorted(folder.rglob("*"), reverse=True):
            name = path.relative_to(folder).as_posix()
            if name == "build" or name.startswith("build/"):
                continue
            if path.is_file() and name not in self.files:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        return written
