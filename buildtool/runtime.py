"""Tailored libraries in this process: load one, open a model, run NumPy arrays through it.

    library = Library("build/digits/lib/host/libdigits.so")
    engine = library.engine(model="build/digits/model/digits.pb", data="build/digits/model/digits.data")
    outputs = engine.run({"image": pixels})

This is `lathe_runtime`, the module for boards, with the errors and the element types of this package: errors are
`RunError` with the message of the library.
"""

from __future__ import annotations

import os

from buildtool import lathe_runtime
from buildtool.errors import RunError, Where
from buildtool.ir.types import DType, dtype_from_code
from buildtool.lathe_runtime import (
    NO_WISHES,
    Array,
    DeviceInfo,
    DeviceKind,
    DeviceOptions,
    Engine,
    MemoryInfo,
    NodeTime,
    PowerMode,
    Session,
    TensorInfo,
)

__all__ = [
    "NO_WISHES",
    "Array",
    "DeviceInfo",
    "DeviceKind",
    "DeviceOptions",
    "Engine",
    "Library",
    "MemoryInfo",
    "NodeTime",
    "PowerMode",
    "Session",
    "TensorInfo",
]


class _Here(lathe_runtime.Host):
    def error(self, what: str, *, file: str, model: str = "", rule: str = "", remedy: str = "") -> Exception:
        return RunError(what, where=Where(file=file, model=model), rule=rule, remedy=remedy)

    def dtype(self, code: int) -> DType:
        return dtype_from_code(code)


_HERE = _Here()


class Library(lathe_runtime.Library):
    """A tailored library. It stays loaded as long as something made from it lives."""

    def __init__(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        super().__init__(path, name, _HERE)
