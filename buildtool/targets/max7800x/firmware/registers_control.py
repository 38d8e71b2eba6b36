"""The registers that start and stop the accelerator: what stands around those of the layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from buildtool.targets.max7800x import processors, rolling
from buildtool.targets.max7800x.devices import (
    MAX78000,
    MAX78002,
    PROCESSORS_PER_MEMORY,
    PROCESSORS_PER_QUADRANT,
    QUADRANTS,
)
from buildtool.targets.max7800x.firmware import addresses
from buildtool.targets.max7800x.firmware.addresses import WORD
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.firmware.registers import Placed, Setting, Write

# What is done at an address: a value is written, bits are waited for, must not be set, so many words are cleared.
Step = tuple[Literal["write", "wait", "check", "clear"], int, int]

ENABLE = 1
CLOCKS = 1 << 3
NO_PIPELINE = 1 << 5
ONE_SHOT = 1 << 8
DONE = 1 << 12
STREAMS = 1 << 14
FIFO = 1 << 15

_CONTROL, _MEMORIES, _LAYERS, TESTS = range(4)  # registers of a quadrant
_MEMORY_TIMING = 0x40E
_FIFO_THRESHOLDS = 2 << 2 | 2 << 7
_FAST_FIFO_THRESHOLD = 10 << 4
_SNOOP_REGISTERS = 24  # the values behind them are those to compare with

_SNOOP_COUNTERS = (8, 9, 10, 11, 20, 21, 22, 23)  # of both: sum, hits, largest, its address

_ZERO = 1 << 12 | 1 << 11 | 1 << 7  # the MAX78002 clears its registers
_ZERO_BIASES = 1 << 10
_ZERO_DONE = 1 << 25
_TESTS = {  # of data, kernels, TRAM and biases: what starts it, the bits that say it is done, the bit that says broken
    MAX78000.name: [(1 << 2 * at, 1 << 27 | 1 << 18 + at, 1 << 14 + at) for at in range(4)],
    MAX78002.name: [
        (1 << 12 | 1 << 0, 1 << 18, 1 << 14),
        (1 << 13 | 1 << 2, 1 << 19, 1 << 15),
        (1 << 13 | 1 << 12 | 1 << 4, 1 << 20, 1 << 16),
        (1 << 12 | 1 << 11 | 1 << 10 | 1 << 6, 1 << 21, 1 << 17),
    ],
}


def _always(placed: Placed, *, running: bool = False) -> int:
    """What the control register says all the time: clocks are on, how long memories take, whether it is a pipeline.

    A running pipeline has no wait states.
    """
    device = placed.network.device
    pipeline = placed.options.has_pipeline(device)
    waits = 0 if running and pipeline else placed.options.memory_waits << 1
    return CLOCKS | waits | (NO_PIPELINE if device is not MAX78000 and not pipeline else 0)


def init_steps(placed: Placed) -> Iterator[Step]:
    """Clocks, timing of memories and how many layers there are; what is in registers and memories is cleared."""
    places = addresses.of(placed.network.device)
    newer = placed.network.device is not MAX78000
    if newer:
        for quadrant in placed.quadrants:
            yield "write", places.control_register(quadrant), _always(placed)
    yield "write", addresses.ALWAYS_ON_CONTROL, placed.options.always_on_waits
    if newer:
        for quadrant in placed.quadrants:
            yield "write", places.control_register(quadrant, _MEMORIES), _MEMORY_TIMING
        zero = _ZERO | (_ZERO_BIASES if placed.biases.placed else 0)
        yield from _test(placed, placed.quadrants, zero, _ZERO_DONE, 0)
    value = _always(placed) | (FIFO if placed.network.fifo else 0) | placed.options.compact_weights << 20
    count = _layer_count(placed)
    for quadrant in placed.quadrants:
        if placed.options.clear_tram:
            for number in range(quadrant * PROCESSORS_PER_QUADRANT, (quadrant + 1) * PROCESSORS_PER_QUADRANT):
                yield "clear", places.processor_tram(number), places.tram_words
        yield "write", places.control_register(quadrant), value
        if not newer:
            yield "write", places.control_register(quadrant, _MEMORIES), _MEMORY_TIMING
        if count or placed.options.write_zeros:
            yield "write", places.control_register(quadrant, _LAYERS), count
    if placed.options.clear_memories:
        for test, done, broken in _TESTS[placed.network.device.name]:
            yield from _test(placed, placed.quadrants, test, done, broken)
    buffer = rolling.buffer_of(placed.network)
    if buffer is not None:
        for memory in processors.memories(buffer.processors):
            address = places.data_memory(memory * PROCESSORS_PER_MEMORY) + buffer.offset
            yield "clear", address, rolling.pixels_of(buffer)


def _layer_count(placed: Placed) -> int:
    """The number of the last layer, and above it that of the first."""
    final = next(hardware for hardware in placed.layers if hardware.last)
    inserted = sum(hardware.clears_averages for hardware in placed.layers)
    before = (placed.options.repeat_layers - 1) * placed.numbers
    return before + final.layer.index + inserted | first_of(placed).number << 8


def _test(placed: Placed, quadrants: Sequence[int], test: int, done: int, broken: int) -> Iterator[Step]:
    """Let the quadrants clear or test memories, wait for them, and look at what they found."""
    registers = [addresses.of(placed.network.device).control_register(quadrant, TESTS) for quadrant in quadrants]
    yield from (("write", register, test) for register in registers)
    yield from (("wait", register, done) for register in registers)
    if broken:
        yield from (("check", register, broken) for register in registers)
    yield from (("write", register, 0) for register in registers)


def first_of(placed: Placed) -> HardwareLayer:
    """The layer that runs first."""
    return next(hardware for hardware in placed.layers if hardware.first)


def snoop_settings(placed: Placed) -> list[Setting]:
    """What makes layers run under conditions: the first 24 of the values that were written down."""
    places = addresses.of(placed.network.device)
    if places.snoop is None:
        return []
    return [
        (places.snoop + quadrant * places.quadrant + at * WORD, value, f"snoop {at}")
        for quadrant in placed.quadrants
        for at, value in enumerate(placed.network.snoop[:_SNOOP_REGISTERS])
        if value or placed.options.write_zeros
    ]


def counted_by_snooping(placed: Placed) -> list[Write]:
    """What the registers of snooping have to hold in the end: the last eight of the values that were written down."""
    places = addresses.of(placed.network.device)
    if places.snoop is None or not placed.network.snoop:
        return []
    base = places.snoop + placed.quadrants[-1] * places.quadrant
    wanted = placed.network.snoop[_SNOOP_REGISTERS:]
    return [(base + at * WORD, value) for at, value in zip(_SNOOP_COUNTERS, wanted, strict=True)]


def unused_registers(placed: Placed) -> Iterator[Write]:
    """Words of registers of layers that there are not: where they begin, and how many there are."""
    places = addresses.of(placed.network.device)
    numbers = {hardware.number for hardware in placed.layers}
    numbers |= {hardware.number - 1 for hardware in placed.layers if hardware.clears_averages}
    repetitions = range(placed.options.repeat_layers)
    used = {number + repetition * placed.numbers for number in numbers for repetition in repetitions}
    unused = [number for number in range(placed.network.device.layers) if number not in used]
    words = sorted(
        places.register(quadrant, name, number)
        for quadrant in placed.quadrants
        for name in places.registers
        for number in unused
        if places.has_register(name, number)
    )
    begin = 0
    for at in range(1, len(words) + 1):
        if at == len(words) or words[at] != words[at - 1] + WORD:
            yield words[begin], at - begin
            begin = at


def fifo_settings(placed: Placed) -> list[Setting]:
    """Thresholds, and which FIFOs there are."""
    network = placed.network
    if not network.fifo:
        return []
    if network.fast_fifo:
        quiet = [(addresses.FAST_FIFO_INTERRUPTS, 0, "fast_fifo_interrupts")] if placed.options.write_zeros else []
        return [*quiet, (addresses.FAST_FIFO_CONTROL, _FAST_FIFO_THRESHOLD, "fast_fifo_control")]
    first = first_of(placed)
    value = _FIFO_THRESHOLDS | placed.options.fifo_waits | (1 << 11 if network.device is MAX78000 else 0)
    for channel in range(first.layer.in_channels):
        quadrant = channel % QUADRANTS
        if processors.in_quadrant(first.layer.processors, quadrant) & 1:
            value |= 1 << 12 + quadrant
    return [(addresses.FIFO_CONTROL, value, "fifo_control")]


def start_writes(placed: Placed) -> Iterator[Write]:
    """The quadrants are enabled one after the other, the first last: it is the one that they follow."""
    places = addresses.of(placed.network.device)
    master = placed.quadrants[0]
    value = _run_control(placed)
    for quadrant in placed.quadrants:
        own = _fifo_control(placed, quadrant) | 1 << 11 | (ENABLE if quadrant != master else 0)
        yield places.control_register(quadrant), value | own | master << 9
    if placed.options.power_down:
        unused = sum(1 << 12 + quadrant for quadrant in range(QUADRANTS) if quadrant not in placed.quadrants)
        if unused or placed.options.write_zeros:
            yield addresses.ALWAYS_ON_CONTROL, unused | placed.options.always_on_waits
    fed = _feeds(placed, master)
    yield places.control_register(master), value | (_fifo_control(placed, master) if fed else 0) | ENABLE


def _run_control(placed: Placed) -> int:
    network = placed.network
    streams = any(hardware.layer.streaming for hardware in placed.layers)
    first = first_of(placed)
    value = (
        _always(placed, running=True) | (STREAMS if streams else 0) | network.average_rounds << 13 | network.fifo << 11
    )
    value |= (network.fifo and streams) << 19 | placed.options.compact_weights << 20
    value |= placed.options.single_bit_xor << 21 | (ONE_SHOT if placed.options.one_shot else 0)
    value |= any(hardware.bits < 0 for hardware in placed.layers) << 30
    if network.device is not MAX78000:
        value |= (first.layer.streaming and first.layer.big_data) << 6
        value |= bool(network.snoop) << 7
    return value


def _feeds(placed: Placed, quadrant: int) -> bool:
    """Whether a quadrant is given input by a FIFO."""
    first = first_of(placed)
    memory = processors.in_quadrant(first.layer.processors, quadrant) & (1 << PROCESSORS_PER_MEMORY) - 1
    return placed.network.fifo and bool(memory)


def _fifo_control(placed: Placed, quadrant: int) -> int:
    if not placed.network.fifo:
        return 0
    value = FIFO
    if placed.network.fast_fifo and _feeds(placed, quadrant):
        first = first_of(placed).layer.processors
        value |= 1 << 22 | (first == 1 or bool(first & 0x0E)) << 23
    return value
