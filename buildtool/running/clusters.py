"""Clusters of Dask that run already, for work that outgrows one machine."""

from __future__ import annotations

import importlib
from typing import Any

from buildtool.errors import ConfigError, DeviceError

_SECONDS = 20.0  # until a scheduler has to answer


def dask() -> Any:
    """Imported on need: it is no part of what Lathe depends on."""
    try:
        return importlib.import_module("distributed")
    except ImportError as problem:
        remedy = "pip install distributed, here and on all workers"
        raise ConfigError("Dask is not installed", remedy=remedy) from problem


def client(address: str) -> Any:
    """A connection to the scheduler. DeviceError where none answers."""
    try:
        return dask().Client(address, timeout=_SECONDS)
    except (OSError, ValueError, TimeoutError) as problem:
        remedy = "start one with `dask scheduler`, which prints its address"
        raise DeviceError(f"no Dask scheduler answers at {address}", remedy=remedy) from problem


def size(address: str) -> int:
    """How many workers there are. DeviceError where there is none."""
    connected = client(address)
    try:
        count = len(connected.nthreads())
    finally:
        connected.close()
    if not count:
        raise DeviceError(f"the scheduler at {address} has no workers", remedy=f"start some: dask worker {address}")
    return count
