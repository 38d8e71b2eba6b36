"""What a build depends on, as a rule of make: for build systems that start Lathe and want to know when to do so again.

A model may consist of several files, and only its importer knows them. So the files that this process opens are noted
down; those that stand with the deployment, the models and the user's operators are what the build depends on, and
so are the files of Lathe itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from buildtool import resources
from buildtool.builders.package import write_file

_OWN_FOLDERS = ("native", "cmake", "toolchains")


class FilesRead:
    """Every file that this process opens for reading from now on."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}
        sys.addaudithook(self._hear)

    def below(self, folders: Iterable[Path], but: Path) -> list[Path]:
        """Those that lie in one of the folders and are no products (of a build in `but`, or of Python)."""
        roots = tuple(folder.resolve() for folder in folders)
        found = dict.fromkeys(Path(name).resolve() for name in self._paths)
        return [
            path
            for path in found
            if any(path.is_relative_to(root) for root in roots)
            and not path.is_relative_to(but.resolve())
            and path.suffix != ".pyc"
            and path.is_file()
        ]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open":
            return
        path, mode, flags = arguments
        reads = mode.startswith("r") and "+" not in mode if isinstance(mode, str) else not flags & os.O_ACCMODE
        if reads and isinstance(path, str | bytes):
            self._paths[os.path.abspath(os.fsdecode(path))] = None  # noqa: PTH100 (a hook of every opening is to be quick)


def folders_of_operators(op_paths: Iterable[Path]) -> Iterator[Path]:
    """Folders in which a new file counts."""
    for folder in op_paths:
        for path in (folder / "ops", *(folder / "native").rglob("*")):
            if path.is_dir() and path.name != "__pycache__":
                yield path


def files_of_lathe() -> Iterator[Path]:
    """Everything that a build by this installation may depend on."""
    folders = [Path(resources.__file__).resolve().parent, *(resources.root() / name for name in _OWN_FOLDERS)]
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def write(file: Path, name: str, needs: Iterable[Path]) -> None:
    """The rule `<name>: <needs>`."""
    lines = " \\\n  ".join(sorted({_escaped(str(path.absolute())) for path in needs}))
    write_file(file, f"{_escaped(name)}: \\\n  {lines}\n".encode())


def _escaped(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
