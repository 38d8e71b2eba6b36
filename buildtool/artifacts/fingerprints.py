"""A hash of everything that decides what a build makes."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import buildtool
from buildtool import resources
from buildtool.digests import sha256_of


def version() -> str:
    """The version that reports carry."""
    return buildtool.version()


def fingerprint(facts: Any, files: Iterable[Path], folders: Iterable[Path] = ()) -> str:
    """A hash of everything that decides what a build makes: facts, files by content, folders by names and contents.

    No path goes into it, so that it is the same wherever the build takes place.
    """
    digest = hashlib.sha256(json.dumps([version(), facts], sort_keys=True, default=str).encode())
    for file in files:
        for part in sorted(path for path in file.rglob("*") if path.is_file()) if file.is_dir() else (file,):
            digest.update(bytes.fromhex(sha256_of(part)))
    for own in map(_own_source, _own_sources()):
        digest.update(own)
    for folder in folders:
        digest.update(_sources(folder))
    return digest.hexdigest()


_SOURCES = frozenset({".py", ".c", ".cc", ".h", ".yaml", ".cmake", ".j2", ".css", ".js", ".proto"})


def _sources(folder: Path) -> bytes:
    """A hash of the sources in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


#: Lathe's own are read once: a deployment of a thousand models asks for a thousand fingerprints.
_own_source = functools.cache(_sources)


def _own_sources() -> tuple[Path, ...]:
    """In a source tree the version says little: what is there counts."""
    if not resources.in_source_tree():
        return ()
    package_folder = Path(buildtool.__file__).parent
    return (package_folder, resources.native_dir(), resources.cmake_dir(), resources.toolchains_dir())
