"""Builds the plugin with which qemu-user counts what a program executes (native/tools/qemu)."""

from __future__ import annotations

from pathlib import Path

from buildtool import resources
from buildtool.builders.objects import ObjectCache
from buildtool.builders.own_library import own_library


def count_plugin(cache: ObjectCache) -> Path:
    """The plugin, built once per compiler of this machine. It needs no header of qemu's."""
    source = resources.native_dir() / "tools" / "qemu" / "count_plugin.c"
    return own_library(cache, "count_plugin", [source], ["-O2"], "compiling the instruction-counting plugin for qemu")


def mark_plugin(cache: ObjectCache) -> Path:
    """The plugin for whole machines: it counts what is executed between two marks."""
    source = resources.native_dir() / "tools" / "qemu" / "mark_plugin.c"
    return own_library(cache, "mark_plugin", [source], ["-O2"], "compiling the instruction-counting plugin for qemu")
