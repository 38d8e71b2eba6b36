"""Lathe: turns models into native libraries that hold exactly what the models need.

The functions here are what the commands call; they are imported on first use, because a command line wants to answer
at once. Errors are `buildtool.errors.LatheError`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from buildtool.settings import BenchSettings, Options, Overrides, RunSettings
    from buildtool.workflow import bench, build, check, convert, export, load, run, validate

    __version__: str

__all__ = [
    "BenchSettings",
    "Options",
    "Overrides",
    "RunSettings",
    "bench",
    "build",
    "check",
    "convert",
    "export",
    "load",
    "run",
    "validate",
    "version",
]


def version() -> str:
    """The version of the installed distribution."""
    from importlib import metadata

    return metadata.version("lathe-build")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version()
    if name in __all__:
        room = "settings" if name in ("BenchSettings", "Options", "Overrides", "RunSettings") else "workflow"
        return getattr(importlib.import_module(f"buildtool.{room}"), name)
    raise AttributeError(f"module 'buildtool' has no attribute '{name}'")
