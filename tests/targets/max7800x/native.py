"""The native simulator for tests: compiled once into the cache that all tests share."""

from __future__ import annotations

import functools
from pathlib import Path

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.targets.max7800x import TARGET


@functools.cache
def library() -> Path:
    """The compiled library."""
    return device_simulator(TARGET.simulator, ObjectCache())
