"""Which bytes of the data memories each layer reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.firmware import data_memory
from buildtool.targets.max7800x.firmware.addresses import WORD
from buildtool.targets.max7800x.firmware.registers import Placed
from buildtool.targets.max7800x.firmware.registers_streaming import streaming_of


@dataclass(frozen=True)
class Region:
    """Bytes of each of some memories."""

    memories: tuple[int, ...]
    start: int
    end: int

    def touches(self, memory: int, start: int, end: int) -> bool:
        return memory in self.memories and self.start < end and start < self.end

    def overlaps(self, other: Region) -> bool:
        return any(self.touches(memory, other.start, other.end) for memory in other.memories)


def reads(placed: Placed, at: int) -> Region:
    """What the layer at a position reads."""
    hardware = placed.layers[at]
    layer = hardware.layer
    streaming = streaming_of(placed.network, placed.layers, at, placed.options)
    pixels = layer.in_size[0] * layer.in_size[1]
    if layer.streaming and streaming.rollover is not None:
        size = streaming.rollover * WORD
    elif layer.big_data:
        size = -(-pixels // WORD) * WORD * hardware.in_passes
    else:
        size = pixels * WORD * hardware.in_passes * layer.operands * (layer.in_skip + 1)
    return Region(processors.memories(layer.processors), layer.in_offset, layer.in_offset + size)


def writes(placed: Placed, at: int) -> Region:
    """What it writes."""
    hardware = placed.layers[at]
    output = data_memory.stored(hardware.layer)
    start = output.offset - hardware.skipped_bytes
    end = output.offset + output.size[0] * output.size[1] * output.step
    if hardware.following is not None and placed.layers[hardware.following].layer.streaming:
        ring = reads(placed, hardware.following)
        end = start + ring.end - ring.start
    return Region(processors.memories(output.processors), start, end)


def spoils_input(placed: Placed) -> str | None:
    """The title of a layer that writes over what the network is given; None where it is still there at the end."""
    first = next(at for at, hardware in enumerate(placed.layers) if hardware.first)
    given = reads(placed, first)
    for at, hardware in enumerate(placed.layers):
        if writes(placed, at).overlaps(given):
            return hardware.title
    return None
