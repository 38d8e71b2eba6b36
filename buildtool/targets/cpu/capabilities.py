"""What the CPU target builds for, as data."""

from __future__ import annotations

from types import MappingProxyType

from buildtool.targets.protocol import AbiCapabilities, Capabilities

CPU = Capabilities(
    runtimes=("cpu",),
    abis=MappingProxyType(
        {
            "host": AbiCapabilities(isas=("portable",)),
            "aarch64-linux-gnu": AbiCapabilities(isas=("portable",), machine="aarch64"),
            "arm-linux-gnueabihf": AbiCapabilities(isas=("portable",), machine="armv7l"),
        }
    ),
)
