"""The registers that start and stop the accelerator: what stands around those of the layers."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.targets.max7800x import addresses, processors
from buildtool.targets.max7800x.devices import MAX78000, PROCESSORS_PER_MEMORY, QUADRANTS
from buildtool.targets.max7800x.registers import Placed, Write

ENABLE = 1
CLOCKS = 1 << 3
NO_PIPELINE = 1 << 5
DONE = 1 << 12
STREAMS = 1 << 14
FIFO = 1 << 15

_CONTROL, _MEMORIES, _LAYERS, _TEST = range(4)
_MEMORY_TIMING = 0x40E
_FIFO_THRESHOLDS = 2 << 2 | 2 << 7
_FAST_FIFO_THRESHOLD = 10 << 4


def _without_pipeline(placed: Placed) -> int:
    device = placed.network.device
    return NO_PIPELINE if device is not MAX78000 and not placed.options.has_pipeline(device) else 0


def clock_writes(placed: Placed) -> Iterator[Write]:
    """What comes before everything else: clocks of the MAX78002, and the part that is always on."""
    places = addresses.of(placed.network.device)
    if placed.network.device is not MAX78000:
        for quadrant in placed.quadrants:
            yield places.control_register(quadrant), _without_pipeline(placed) | CLOCKS
    yield addresses.ALWAYS_ON_CONTROL, 0
    if placed.network.device is not MAX78000:
        for quadrant in placed.quadrants:
            yield places.control_register(quadrant, _MEMORIES), _MEMORY_TIMING


def init_writes(placed: Placed) -> Iterator[Write]:
    """The state machine is stopped, memories have their timing, the number of layers is known."""
    places = addresses.of(placed.network.device)
    value = CLOCKS | (FIFO if placed.network.fifo else 0) | placed.options.compact_weights << 20
    final = next(hardware for hardware in placed.layers if hardware.last)
    start = next(hardware for hardware in placed.layers if hardware.first)
    inserted = sum(hardware.clears_averages for hardware in placed.layers)
    count = final.layer.index + inserted | start.number << 8
    for quadrant in placed.quadrants:
        yield places.control_register(quadrant), value | _without_pipeline(placed)
        if placed.network.device is MAX78000:
            yield places.control_register(quadrant, _MEMORIES), _MEMORY_TIMING
        if count or placed.options.write_zeros:
            yield places.control_register(quadrant, _LAYERS), count


def fifo_writes(placed: Placed) -> Iterator[Write]:
    """Thresholds, and which FIFOs there are."""
    network = placed.network
    if not network.fifo:
        return
    if network.fast_fifo:
        if placed.options.write_zeros:
            yield addresses.FAST_FIFO_INTERRUPTS, 0
        yield addresses.FAST_FIFO_CONTROL, _FAST_FIFO_THRESHOLD
        return
    first = next(hardware for hardware in placed.layers if hardware.first)
    value = _FIFO_THRESHOLDS | (1 << 11 if network.device is MAX78000 else 0)
    for channel in range(first.layer.in_channels):
        quadrant = channel % QUADRANTS
        if processors.in_quadrant(first.layer.processors, quadrant) & 1:
            value |= 1 << 12 + quadrant
    yield addresses.FIFO_CONTROL, value


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
            yield addresses.ALWAYS_ON_CONTROL, unused
    fed = _feeds(placed, master)
    yield places.control_register(master), value | (_fifo_control(placed, master) if fed else 0) | ENABLE


def _run_control(placed: Placed) -> int:
    network = placed.network
    streams = any(hardware.layer.streaming for hardware in placed.layers)
    first = next(hardware for hardware in placed.layers if hardware.first)
    value = CLOCKS | (STREAMS if streams else 0) | network.average_rounds << 13 | network.fifo << 11
    value |= (network.fifo and streams) << 19 | placed.options.compact_weights << 20
    value |= placed.options.single_bit_xor << 21
    value |= any(hardware.bits < 0 for hardware in placed.layers) << 30
    if network.device is not MAX78000:
        value |= _without_pipeline(placed) | (first.layer.streaming and first.layer.big_data) << 6
        value |= bool(network.snoop) << 7
    return value


def _feeds(placed: Placed, quadrant: int) -> bool:
    """Whether a quadrant is given input by a FIFO."""
    first = next(hardware for hardware in placed.layers if hardware.first)
    memory = processors.in_quadrant(first.layer.processors, quadrant) & (1 << PROCESSORS_PER_MEMORY) - 1
    return placed.network.fifo and bool(memory)


def _fifo_control(placed: Placed, quadrant: int) -> int:
    if not placed.network.fifo:
        return 0
    value = FIFO
    if placed.network.fast_fifo and _feeds(placed, quadrant):
        first = next(hardware for hardware in placed.layers if hardware.first).layer.processors
        value |= 1 << 22 | (first == 1 or bool(first & 0x0E)) << 23
    return value
