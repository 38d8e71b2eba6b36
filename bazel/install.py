"""Lays the installed Lathe out as a Bazel repository: the tool with all that it imports, and the compiler flags.

    python install.py FOLDER VERSION [PACKAGE...]

Run by the repository rule of repositories.bzl with the Python into which Lathe is installed. What a conversion needs
is in FOLDER afterwards, so that it can be declared: a conversion reads nothing of the environment but the Python
interpreter. PACKAGE names further packages whose modules the tool may import.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

PACKAGE = "lathe-build"
# CMake and Ninja come with Lathe, too; a conversion compiles nothing.
_NOT_NEEDED = frozenset({PACKAGE, "cmake", "ninja"})
_RESOURCES = ("native", "cmake", "toolchains", "bazel")
# Files of an installed package that the tool does not read, or that differ between machines.
_SKIPPED_FOLDERS = frozenset({"tests", "test", "__pycache__"})
_SKIPPED_SUFFIXES = frozenset({".pyc", ".pyi", ".h", ".hpp", ".cuh"})
_KEPT_METADATA = frozenset({"METADATA", "entry_points.txt"})

_LAUNCHER = """#!/bin/sh
# Isolated: neither the user's settings nor what else is installed reaches the tool, and it leaves no bytecode.
here=$(dirname "$0")
exec "{python}" -I -S -B "$here/convert.py" "$here/site" "$@"
"""

_BUILD = """load("@lathe//bazel:tool.bzl", "lathe_tool")

package(default_visibility = ["//visibility:public"])

exports_files(["lathe"])

lathe_tool(
    name = "tool",
    data = ["convert.py", "python-version"] + glob(["site/**"]),
    program = "lathe",
)
"""


class InstallationError(Exception):
    """What is missing, and what to do."""


def main(folder: Path, wanted: str, extra: list[str]) -> int:
    try:
        _check_version(wanted)
        _lay_out(folder, extra)
    except InstallationError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def _check_version(wanted: str) -> None:
    try:
        found = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise InstallationError(
            f"Lathe is not installed for {sys.executable}.\n"
            f"Install it with: pip install {PACKAGE}\n"
            "or set LATHE_PYTHON to a Python that has it: --repo_env=LATHE_PYTHON=/path/to/python"
        ) from None
    if found != wanted:
        raise InstallationError(
            f"{sys.executable} has Lathe {found}, and these Bazel rules are those of Lathe {wanted}.\n"
            f"Install the same version: pip install {PACKAGE}=={wanted}"
        )


def _lay_out(folder: Path, extra: list[str]) -> None:
    from buildtool import resources

    site = folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    for name in _closure([PACKAGE, *extra]):
        for path, source in _files(name):
            target = site / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)
    package = Path(resources.__file__).parent
    ignored = shutil.ignore_patterns("_resources", "*.pyi", "*.so", *_SKIPPED_FOLDERS)
    # Copied, because Lathe finds its resources beside its modules, and would follow links to where they come from.
    shutil.copytree(package, site / "buildtool", ignore=ignored)
    ignored = shutil.ignore_patterns("*_test.cc", *_SKIPPED_FOLDERS)
    for name in _RESOURCES:
        shutil.copytree(resources.root() / name, site / "buildtool" / "_resources" / name, ignore=ignored)
    _write_metadata(site)
    shutil.copyfile(Path(__file__).with_name("convert.py"), folder / "convert.py")
    # The interpreter itself is not an input: a conversion counts as changed when its version does.
    (folder / "python-version").write_text(sys.version)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (folder / "lathe").write_text(_LAUNCHER.format(python=base))
    (folder / "lathe").chmod(0o755)
    (folder / "BUILD.bazel").write_text(_BUILD)
    _write_flags(folder)


def _closure(names: list[str]) -> list[str]:
    """The packages, and those that they require where they run."""
    seen: dict[str, None] = {}
    todo = list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in seen:
            continue
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system or Python: pip has left it out as well
        seen[name] = None
        todo += [match[0] for text in requirements if "extra ==" not in text and (match := re.match(r"[\w.-]+", text))]
    return sorted(seen.keys() - _NOT_NEEDED)


def _files(name: str) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of an installed package by their place in the folder of all packages."""
    for path in importlib.metadata.files(name) or []:
        if path.is_absolute() or ".." in path.parts or path.suffix in _SKIPPED_SUFFIXES:
            continue
        if _SKIPPED_FOLDERS.intersection(path.parts):
            continue
        if path.parts[0].endswith(".dist-info") and path.name not in _KEPT_METADATA:
            continue
        source = Path(str(path.locate()))
        if source.is_file():
            yield path, source


def _write_metadata(site: Path) -> None:
    """Lathe asks for its own version and finds its targets; nothing else goes in, for that names the wheel's place."""
    version = importlib.metadata.version(PACKAGE)
    folder = site / f"{PACKAGE.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n")
    (folder / "entry_points.txt").write_text(
        importlib.metadata.distribution(PACKAGE).read_text("entry_points.txt") or ""
    )


def _write_flags(folder: Path) -> None:
    from buildtool.builders.toolchain import cmake_program

    output = f"-DOUTPUT={(folder / 'flags.bzl').absolute()}"
    command = [os.fspath(cmake_program()), output, "-P", os.fspath(Path(__file__).with_name("ExportFlags.cmake"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InstallationError(f"CMake could not write the compiler flags:\n{done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
