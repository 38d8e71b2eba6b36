"""How much room data and kernels take, by the rules that the planner follows."""

from __future__ import annotations

import math

from buildtool.targets.max7800x.devices import (
    PROCESSORS,
    PROCESSORS_PER_MEMORY,
    QUADRANTS,
)
from buildtool.targets.max7800x.network import INPUT, Layer, Network
from buildtool.targets.max7800x.processors import first, in_quadrant, passes, per_pass

WORD = 4  # bytes: a channel of each of the four processors that share a memory
COLUMN_BITS = 72
MEMORIES = PROCESSORS // PROCESSORS_PER_MEMORY


def words(channels: int, pixels: int, width: int = 8) -> int:
    """Words of 32 bits in each memory that holds some of the channels."""
    return pixels * passes(channels) * (width // 8)


def planar_words(pixels: int) -> int:
    """Of input that lies plane by plane, four pixels of a channel in a word."""
    return -(-pixels // 4)


def contiguous(start: int, count: int) -> int:
    return ((1 << count) - 1) << start


def memories(mask: int) -> int:
    """A bit for each memory that processors of the mask share."""
    return sum(1 << memory for memory in range(MEMORIES) if mask >> (memory * PROCESSORS_PER_MEMORY) & 0xF)


def can_pass(given: int, written: int) -> bool:
    """Whether a layer without a kernel carries data from processors to others.

    It keeps to each quadrant, and to neighbours that follow each other: it does not close gaps.
    """
    for quadrant in range(QUADRANTS):
        come, go = in_quadrant(given, quadrant), in_quadrant(written, quadrant)
        if come.bit_count() != go.bit_count():
            return False
        if come and (come != contiguous(first(come), come.bit_count()) or go != contiguous(first(go), go.bit_count())):
            return False
    return True


def columns(layer: Layer) -> int:
    """Columns of 9 bytes in each processor of the layer, where what it writes begins with a memory."""
    kernel = layer.kernel
    if kernel is None or layer.operation == "none":
        return 0
    bits = abs(kernel.bits)
    if layer.flatten:
        count = layer.out_channels * math.prod(layer.in_size) * passes(layer.in_channels)
    elif kernel.groups > 1:
        count = passes(layer.in_channels)
    else:
        count = per_pass(layer.out_channels) * passes(layer.out_channels) * passes(layer.in_channels)
    size = 1 if layer.operation == "linear" else math.prod(kernel.size)
    share = 8 // bits
    spare = (count % share) * size * (share - 1)
    return -(-(count * size * bits + spare) // COLUMN_BITS)


def channels_of(network: Network, source: int) -> int:
    """Of the input, where one layer splits it into operands, those of one operand."""
    if source != INPUT:
        return network.layers[source].out_channels
    split = split_input(network)
    return split.in_channels if split is not None else network.input_channels


def split_input(network: Network) -> Layer | None:
    """The layer that takes all its operands from the input, which then lies interleaved."""
    for layer in network.layers:
        if layer.sources == (INPUT,) and layer.operands > 1:
            return layer
    return None
