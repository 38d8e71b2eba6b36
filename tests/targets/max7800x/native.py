"""The native simulator for tests: compiled once into the cache that all tests share."""

from __future__ import annotations

import functools
from pathlib import Path

from buildtool.builders.device_simulators import max7800x_simulator
from buildtool.builders.objects import ObjectCache


@functools.cache
def library() -> Path:
    """The compiled library."""
    return max7800x_simulator(ObjectCache())
