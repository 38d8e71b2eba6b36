"""Compiles a small shared library for this machine, for Lathe's own use, and keeps it in the cache."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from buildtool.builders import entries
from buildtool.builders.disks import writing_to
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import HOST, Toolchain, ordered, probe
from buildtool.errors import BuildError, ToolchainError

_LANGUAGES = {"c": ("-x", "c", "-std=c99"), "c++": ("-x", "c++", "-std=c++17")}
_FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden")


def own_library(
    cache: ObjectCache,
    name: str,
    files: Sequence[Path],
    flags: Sequence[str],
    doing: str,
    *,
    for_this_cpu: bool = False,
    language: Literal["c", "c++"] = "c",
) -> Path:
    """The library `name`.so, compiled once per compiler, flags and contents. `files`: sources, and headers beside them.

    `for_this_cpu`: with every instruction that this processor has, where the compiler knows it.
    """
    toolchain = probe(HOST)
    native, cpu = _for_this_cpu(toolchain) if for_this_cpu else ((), "")
    options = [*_LANGUAGES[language], *_FLAGS, *flags, *native]
    digest = hashlib.sha256("\0".join((toolchain.identity, cpu, *options)).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    with writing_to(cache.folder):
        folder = cache.folder / "tools" / digest.hexdigest()[:24]
        library = folder / f"{name}.so"
        if entries.is_sound(library, cache.note):
            return library
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{name}.new-{os.getpid()}"
        sources = [file for file in files if file.suffix in (".c", ".cc")]
        try:
            cache.processes.run([toolchain.cxx, *options, *sources, "-o", temporary], doing=doing)
            entries.put(temporary, library)
        finally:
            temporary.unlink(missing_ok=True)
    return library


@functools.cache
def _for_this_cpu(toolchain: Toolchain) -> tuple[tuple[str, ...], str]:
    """The flag, and what it means here: caches may be shared by machines."""
    for flag in ("-march=native", "-mcpu=native"):
        try:
            command = [toolchain.cxx, flag, "-x", "c", "-E", "-dM", os.devnull]
            return (flag,), ordered(Processes().run(command, doing="querying the compiler for this processor"))
        except (BuildError, ToolchainError):
            continue
    return (), ""
