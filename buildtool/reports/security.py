"""Which protections of SECURITY.md hold on this machine, each tried rather than assumed."""

from __future__ import annotations

import importlib.util
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool import budget, jail, resources
from buildtool.reports.table import Table

_TRIES = """
import socket, sys
try:
    open(sys.argv[1])
except OSError:
    pass
else:
    sys.exit("it reads a file that it was not given")
try:
    socket.socket()
except OSError:
    sys.exit(0)
sys.exit("it may open sockets")
"""


@dataclass(frozen=True)
class Protection:
    """One protection: whether it holds, what was found, and what else to do."""

    name: str
    holds: bool
    found: str
    remedy: str = ""


def examine() -> tuple[Protection, ...]:
    return (_jail(), _cache(), _secrets(), _budget())


def document(protections: Sequence[Protection]) -> dict[str, Any]:
    return {"protections": [vars(item) for item in protections]}


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    table = Table(["protection", "state", "found"])
    for item in document["protections"]:
        table.add(item["name"], "ok" if item["holds"] else "missing", item["found"])
    return [table, *(f"{item['name']}: {item['remedy']}" for item in document["protections"] if item["remedy"])]


def _jail() -> Protection:
    """PyTorch's programs run in a jail: it is entered, and what must not be possible is tried there."""
    name = "jail for PyTorch programs"
    with tempfile.TemporaryDirectory(prefix="lathe-doctor-") as folder:
        secret = Path(folder) / "secret" / "file"
        secret.parent.mkdir()
        secret.write_text("secret")
        inner = Path(folder) / "jailed"
        inner.mkdir()
        script = inner / "script.py"
        script.write_text(_TRIES)
        remedy = "programs of PyTorch are refused here: export them to ONNX on another machine"
        try:
            ended = jail.run(script, [str(secret)], read=[script], write=[])
        except jail.NoJailError as problem:
            return Protection(name, False, str(problem), remedy)
    if ended.code:
        return Protection(name, False, ended.last_words or f"exit code {ended.code}", remedy)
    return Protection(name, True, "no files, no network, no processes; limits of time and memory")


def _cache() -> Protection:
    """Whoever can write to the cache decides what is linked into libraries."""
    name, folder = "cache of compiled code", resources.cache_dir()
    if not folder.is_dir():
        return Protection(name, True, f"{folder} does not exist yet")
    mode, owner = folder.stat().st_mode, folder.stat().st_uid
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        remedy = f"chmod go-w {folder}, or set LATHE_CACHE_DIR to a folder of your own"
        return Protection(name, False, f"{folder} can be changed by other users ({stat.filemode(mode)})", remedy)
    if owner not in (0, os.geteuid()):
        return Protection(name, False, f"{folder} belongs to the user {owner}", "set LATHE_CACHE_DIR")
    return Protection(name, True, f"only you can change {folder}; entries have checksums")


def _secrets() -> Protection:
    name = "encryption of models"
    if importlib.util.find_spec("cryptography") is None:
        return Protection(name, False, "the package cryptography is missing", "pip install cryptography")
    return Protection(
        name, True, "ChaCha20-Poly1305; keeps models unreadable at rest, not from who controls the device"
    )


def _budget() -> Protection:
    asked = os.environ.get(budget.VARIABLE)
    found = (
        f"{budget.NODES:,} nodes, {budget.BYTES >> 20} MiB, {budget.SECONDS:g} s, and more in proportion to the file"
    )
    return Protection("limits for model files", True, f"{found}; {budget.VARIABLE}={asked}" if asked else found)
