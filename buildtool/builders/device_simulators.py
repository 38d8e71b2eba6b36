"""Builds simulators of accelerators that are written in C, for this machine."""

from __future__ import annotations

from pathlib import Path

from buildtool.builders.objects import ObjectCache
from buildtool.builders.own_library import own_library
from buildtool.targets.protocol import SimulatorSource


def device_simulator(source: SimulatorSource, cache: ObjectCache) -> Path:
    """The library that a target counts right answers with; compiled on first use."""
    return own_library(cache, source.name, source.files, source.flags, f"compiling {source.name}", for_this_cpu=True)
