"""Builds the plugin with which qemu-user counts what a program executes (native/tools/qemu)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from buildtool import resources
from buildtool.builders.objects import ObjectCache, writing_to
from buildtool.builders.toolchain import HOST, probe


def count_plugin(cache: ObjectCache) -> Path:
    """The plugin, built once per compiler of this machine. It needs no header of qemu's."""
    toolchain = probe(HOST)
    source = resources.native_dir() / "tools" / "qemu" / "count_plugin.c"
    digest = hashlib.sha256(toolchain.identity.encode() + source.read_bytes())
    with writing_to(cache.folder):
        folder = cache.folder / "tools" / digest.hexdigest()[:24]
        plugin = folder / "count_plugin.so"
        if plugin.is_file():
            return plugin
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".count_plugin.new-{os.getpid()}"
        try:
            command: list[str | Path] = [toolchain.cxx, "-x", "c", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
            cache.processes.run([*command, source, "-o", temporary], doing="compiling the plugin that counts in qemu")
            temporary.replace(plugin)
        finally:
            temporary.unlink(missing_ok=True)
    return plugin
