"""Builds simulators of accelerators that are written in C, for this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from buildtool import resources
from buildtool.builders.objects import ObjectCache
from buildtool.builders.own_library import own_library


def max7800x_simulator(cache: ObjectCache) -> Path:
    """The library that `targets.max7800x.native_simulator` loads; compiled on first use."""
    folder = resources.native_dir() / "max7800x"
    files = [folder / "simulator.c", folder / "simulator.h"]
    doing = "compiling the simulator of the MAX7800x"
    return own_library(cache, "max7800x_simulator", files, ["-O3"], doing, for_this_cpu=True)


# By the name of the target.
SIMULATORS: Mapping[str, Callable[[ObjectCache], Path]] = MappingProxyType({"max7800x": max7800x_simulator})
