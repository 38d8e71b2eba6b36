"""Sets of processors as bits of a number, and how channels spread over them.

A processor works on one channel at a time. More channels than there are processors take several passes, and the
channels of a pass lie behind each other in memory.
"""

from __future__ import annotations

from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY, PROCESSORS_PER_QUADRANT, QUADRANTS

_QUADRANT = (1 << PROCESSORS_PER_QUADRANT) - 1


def used(processors: int) -> list[int]:
    """The numbers of the processors, in order."""
    return [number for number in range(PROCESSORS) if processors >> number & 1]


def count(processors: int) -> int:
    return processors.bit_count()


def first(processors: int) -> int:
    """The lowest number of a set that is not empty."""
    return (processors & -processors).bit_length() - 1


def last(processors: int) -> int:
    """The highest number of a set that is not empty."""
    return processors.bit_length() - 1


def in_quadrant(processors: int, quadrant: int) -> int:
    """Those of one quadrant, as bits 0 to 15."""
    return processors >> quadrant * PROCESSORS_PER_QUADRANT & _QUADRANT


def quadrants(processors: int) -> tuple[int, ...]:
    """The quadrants that have some of them."""
    return tuple(quadrant for quadrant in range(QUADRANTS) if in_quadrant(processors, quadrant))


def first_memory(processors: int) -> int:
    """The first processor of the data memory that the first of them reads or writes."""
    return first(processors) // PROCESSORS_PER_MEMORY * PROCESSORS_PER_MEMORY


def memories(processors: int) -> tuple[int, ...]:
    """The numbers of the data memories that belong to them, in order."""
    return tuple(dict.fromkeys(number // PROCESSORS_PER_MEMORY for number in used(processors)))


def passes(channels: int) -> int:
    """How often the processors have to work to get through all channels."""
    return max(-(-channels // PROCESSORS), 1)


def per_pass(channels: int) -> int:
    """How many channels each pass has room for: as many processors read or write them."""
    if channels <= PROCESSORS:
        return channels
    share = -(-channels // passes(channels))
    return min(-(-share // PROCESSORS_PER_MEMORY) * PROCESSORS_PER_MEMORY, PROCESSORS)


def idle_lanes(channels: int) -> int:
    """How many places of the last pass hold no channel."""
    return passes(channels) * per_pass(channels) - channels


def depthwise_slots(reading: int, writing: int, width: int) -> int:
    """How often a quadrant writes for each pixel of a depthwise convolution: the quadrant that writes most.

    Where outputs stay with their processors, the memories of a quadrant write side by side.
    """
    most = max(count(in_quadrant(reading, quadrant)) for quadrant in range(QUADRANTS))
    return (min(most, PROCESSORS_PER_MEMORY) if reading == writing else most) * (width // 8)


def depthwise_begins_right(reading: int, writing: int) -> bool:
    """Whether the outputs of a depthwise convolution keep their bytes of words, and quadrants begin with a word."""
    spans = reading >> first(reading) >= 1 << PROCESSORS_PER_QUADRANT
    return first(writing) % PROCESSORS_PER_MEMORY == 0 and (not spans or first(reading) % PROCESSORS_PER_MEMORY == 0)


def packs_into(reading: int, writing: int) -> bool:
    """Whether a layer without a kernel, of processors of a quadrant, writes for these: one beside the other, and the
    first with a word.
    """
    if not reading or not writing:
        return reading == writing
    begins = first(writing)
    return begins % PROCESSORS_PER_MEMORY == 0 and writing >> begins == (1 << count(reading)) - 1
