"""Layers of more weights or channels than the KPU takes at once: they become several, behind each other in memory."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.targets.k210.format.arguments import LOAD_BYTES

MOST_LOADS = 64
MOST_CHANNELS = 1024
STEP = 8  # so that each part begins at a whole row of planes, and at a whole word of main memory


@dataclass(frozen=True)
class Part:
    """Output channels of a layer."""

    first: int
    count: int


def parts(channels: int, channel_bytes: int, *, wide: bool, most: int = MOST_CHANNELS) -> tuple[Part, ...]:
    """All channels in one part where that many are allowed; `channel_bytes`: the weights of one channel."""
    per_load = max(1, LOAD_BYTES[wide] // channel_bytes)
    most = min(MOST_LOADS * per_load, MOST_CHANNELS, most)
    if channels <= most:
        return (Part(0, channels),)
    size = most // STEP * STEP
    return tuple(Part(first, min(size, channels - first)) for first in range(0, channels, size))
