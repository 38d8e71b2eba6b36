"""Processors and offsets where a description does not write them, by the rules of the tool that it is written for."""

from __future__ import annotations

from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY


def passes(channels: int) -> int:
    """How often the processors go over so many channels."""
    return -(-channels // PROCESSORS)


def needed_processors(channels: int) -> int:
    """How many processors work on so many channels: all in one pass, or multiples of 4 in several."""
    each = -(-channels // passes(channels))
    if channels > PROCESSORS:
        each = min(-(-each // PROCESSORS_PER_MEMORY) * PROCESSORS_PER_MEMORY, PROCESSORS)
    return each


def packed(channels: int) -> int:
    """Processors for so many channels, from the first one on."""
    return (1 << needed_processors(channels)) - 1
