"""Finds the files that are not Python (native sources, CMake modules, Bazel rules, toolchains).

In a source tree they stand beside the package; an installed wheel carries them inside it. Nobody else needs to know.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from pathlib import Path
from types import ModuleType

from buildtool.errors import InternalError

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """The folder that holds `native`, `cmake`, `bazel` and `toolchains`."""
    installed = _PACKAGE / "_resources"
    return installed if installed.is_dir() else _PACKAGE.parent


def in_source_tree() -> bool:
    """Whether Lathe runs from its own sources rather than from an installed wheel."""
    return root() == _PACKAGE.parent


def native_dir() -> Path:
    """The native sources: `include`, `core`, `ops` and the rooms of the devices."""
    return _folder("native")


def include_dir() -> Path:
    """The public headers, to be used as `#include <lathe/engine.h>`."""
    return _folder("native/include")


def cmake_dir() -> Path:
    """The CMake package and its functions."""
    return _folder("cmake")


def bazel_dir() -> Path:
    """The Bazel rules and platforms."""
    return _folder("bazel")


def toolchains_dir() -> Path:
    """One file per target."""
    return _folder("toolchains")


def examples_dir() -> Path:
    """The demonstrations, each a folder with `demo.py`, and what they share."""
    return _folder("examples")


def _folder(name: str) -> Path:
    path = root() / name
    if not path.is_dir():
        raise InternalError(
            f"the folder '{name}' is missing from this installation of Lathe (expected at {path})",
            remedy="install lathe-build again",
        )
    return path


def cache_dir() -> Path:
    """Where Lathe keeps what it can make again: `$LATHE_CACHE_DIR`, else `lathe` in the user's cache folder."""
    if folder := os.environ.get("LATHE_CACHE_DIR"):
        return Path(folder).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "lathe"


def __getattr__(name: str) -> ModuleType:
    """`cmake_package`: the folder of CMake's files as the package that the entry point `cmake.root` has to name.

    With it scikit-build-core tells the CMake of other Python packages where Lathe is, installed or in its sources.
    """
    if name == "cmake_package":
        spec = importlib.machinery.PathFinder.find_spec("cmake", [str(root())])
        if spec is not None:
            return importlib.util.module_from_spec(spec)
    raise AttributeError(f"module 'buildtool.resources' has no attribute '{name}'")
