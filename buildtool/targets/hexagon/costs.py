"""What nodes and copies are expected to take with a DSP beside the CPU: assumptions that nobody has measured."""

from __future__ import annotations

from buildtool.targets.regions.costs import DeviceCosts, Speed

#: A phone of the middle class: products of bytes on vectors, and calls that go through the kernel.
HEXAGON_COSTS = DeviceCosts(
    device=Speed(gmacs=250.0, gigabytes=10.0, start_us=3.0),
    cpu=Speed(gmacs=60.0, gigabytes=8.0, start_us=2.0),
    upload=Speed(gmacs=1.0, gigabytes=5.0, start_us=60.0),
    download=Speed(gmacs=1.0, gigabytes=5.0, start_us=60.0),
    pixels=False,
)
