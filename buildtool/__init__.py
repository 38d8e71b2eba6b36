"""Lathe: turns models into native libraries that hold exactly what the models need.

The functions here are what the commands call; they are imported on first use, because a command line wants to answer
at once. Errors are `buildtool.errors.LatheError`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from buildtool.workflow import (
        Options,
        Overrides,
        RunSettings,
        build,
        check,
        convert,
        load,
        run,
        schema,
        validate,
    )

__all__ = [
    "Options",
    "Overrides",
    "RunSettings",
    "build",
    "check",
    "convert",
    "load",
    "run",
    "schema",
    "validate",
    "version",
]


def version() -> str:
    """The version of the installed distribution."""
    from importlib import metadata

    return metadata.version("lathe-build")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("buildtool.workflow"), name)
    raise AttributeError(f"module 'buildtool' has no attribute '{name}'")
