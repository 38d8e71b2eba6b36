"""The registers of each layer, in the order in which they are written.

They say where data is read, how often, what is done with it and where it goes. Both chips have the same kinds of
registers; some fields lie elsewhere or count in another way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import (
    MAX78000,
    PROCESSORS_PER_MEMORY,
    PROCESSORS_PER_QUADRANT,
    Device,
)
from buildtool.targets.max7800x.firmware import addresses
from buildtool.targets.max7800x.firmware.addresses import BYTES_PER_COLUMN, WORD
from buildtool.targets.max7800x.firmware.bias_memory import BiasMemory
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.firmware.kernel_memory import KernelMemory, real_kernel
from buildtool.targets.max7800x.firmware.registers_streaming import streaming_of, whole_words
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.options import Options

Write = tuple[int, int]  # address, value
Setting = tuple[int, int, str]  # and what it is, for people
Field = tuple[str, int]  # name of a register, value

_MOST_FLAT = 16  # passes of flattened pixels that fit into the field for passes
_ELTWISE = {"sub": 0, "add": 1, "or": 2, "xor": 3}
_FIFO_GO = 1 << 25
_WIDTH_CODES = {8: 0, 1: 1, 2: 2, 4: 3}


@dataclass(frozen=True)
class Placed:
    """A network with everything that its registers tell of."""

    network: Network
    layers: tuple[HardwareLayer, ...]
    kernels: KernelMemory
    biases: BiasMemory
    quadrants: tuple[int, ...]  # that the network uses
    options: Options

    @property
    def numbers(self) -> int:
        """Of layers, those between that do nothing or were put in among them."""
        return max(hardware.number for hardware in self.layers) + 1


def quadrants_of(layers: Sequence[HardwareLayer]) -> tuple[int, ...]:
    """The quadrants that work, or that an output lies in, also of a layer that nobody reads."""
    used = 0
    for hardware in layers:
        used |= hardware.layer.processors | hardware.layer.output_processors
    return processors.quadrants(used)


def layer_settings(placed: Placed, at: int, quadrant: int, repetition: int = 0) -> Iterator[Setting]:
    """All registers of one layer in one quadrant; those that are zero are left out, unless the options want them."""
    places = addresses.of(placed.network.device)
    hardware = placed.layers[at]
    number = hardware.number + repetition * placed.numbers
    fields = dict(_fields(placed, at, quadrant))
    reset = (
        dict(_reset_fields(fields, hardware)) if hardware.clears_averages and quadrant == placed.quadrants[0] else {}
    )
    for name, value in fields.items():
        if reset.get(name):
            yield places.register(quadrant, name, number - 1), reset[name], f"{name} of the layer before"
        if value or (placed.options.write_zeros and places.has_register(name, number)):
            yield places.register(quadrant, name, number), value, name
    if hardware.first and placed.network.fifo:
        pixels = hardware.in_size[0] * hardware.in_size[1]
        words = -(-pixels // 4) if hardware.layer.big_data else pixels
        yield places.frame_size_register(quadrant), words, "frame_size"


def _reset_fields(fields: dict[str, int], hardware: HardwareLayer) -> Iterator[Field]:
    """A layer of one processor that passes one row on: averages begin anew behind it."""
    row = 1 << 16
    yield from {"rows": row, "columns": row, "stride": 0x10, "control": 0x920, "one_d": 0x100}.items()
    yield from {"post": 0x03000000, "processors": 1}.items()
    for name in ("write_pointer", "slot_offset", "read_pointer"):
        yield name, fields[name]


def _fields(placed: Placed, at: int, quadrant: int) -> Iterator[Field]:
    hardware = placed.layers[at]
    device = placed.network.device
    if device is not MAX78000:
        yield "next", _next(placed, hardware)
    yield "rows", _rows(device, hardware)
    yield "columns", _columns(device, hardware)
    for name, axis in (("pool_rows", 0), ("pool_columns", 1)):
        value = (hardware.pool[axis] - 1) * hardware.pool_dilation[axis]
        yield name, value if device is MAX78000 else value | hardware.pool_dilation[axis] - 1 << 4
    yield "stride", _stride(device, hardware)
    yield from _write_pointers(device, hardware, quadrant)
    yield "read_pointer", hardware.layer.in_offset // WORD
    slots = _time_slots(hardware)
    yield "control", _control(placed, at, quadrant)
    yield "control2", _control2(device, hardware)
    yield from _masks(placed, at)
    if device is not MAX78000:
        yield "outputs", _outputs(placed, at, slots)
    yield "one_d", _one_d(placed, at, slots)
    yield "tram", _tram(placed, at)
    yield "post", _post(placed, at, quadrant)
    enabled = processors.in_quadrant(hardware.layer.processors, quadrant)
    reads_kernels = hardware.convolves and not hardware.hint("bypass")
    yield "processors", enabled << 16 | enabled if reads_kernels else enabled
    streaming = streaming_of(placed.network, placed.layers, at, placed.options)
    goes = _FIFO_GO if placed.options.fifo_go and hardware.first else 0
    yield "stream_start", streaming.start | goes
    yield "stream_delta", streaming.delta2 << 16 | streaming.delta1 << 4 | streaming.offset
    if streaming.rollover is not None:
        yield "rollover", streaming.rollover


def _next(placed: Placed, hardware: HardwareLayer) -> int:
    """Which layer follows, where it is not the one with the next number."""
    layer = hardware.layer
    if hardware.following is None:
        highest = max(other.index for other in placed.network.layers)
        return 1 << 8 if layer.index != highest else 0
    following = placed.layers[hardware.following]
    if following.layer.index != layer.index + 1:
        return 1 << 7 | following.number
    snooped = layer.hints.get("snoop_sequence")
    if snooped is not None:
        number = next((other.number for other in placed.layers if other.layer.index == snooped), int(snooped))
        return 1 << 7 | number
    return 0


def _read_size(hardware: HardwareLayer) -> tuple[int, int]:
    """Rows and columns that are read."""
    rows, columns = hardware.in_size
    if hardware.layer.flatten:
        return hardware.pool
    if hardware.operation == "convtranspose2d":
        return rows * hardware.stride[0], columns * hardware.stride[1]
    if not hardware.convolves and hardware.eltwise_by_rows:
        return rows * hardware.in_passes, columns
    return rows, columns


def _behind_last(hardware: HardwareLayer, size: int, axis: int) -> int:
    """From the last window to the end of a row or column."""
    step = hardware.pool_stride[axis]
    windows = (size - (hardware.pool[axis] - 1) * hardware.pool_dilation[axis] - 1) // step
    return size - windows * step


def _counted(device: Device, size: int, pad: int, behind: int, skipped: int) -> int:
    if device is MAX78000:
        return size - 1 + 2 * pad | pad << 16
    padding = 1 << 15 | pad - 1 << 13 if pad else 0
    return size - behind | skipped << 16 | padding


def _rows(device: Device, hardware: HardwareLayer) -> int:
    rows, columns = _read_size(hardware)
    behind = 1 if hardware.operation == "conv1d" else _behind_last(hardware, columns, 1)
    layer = hardware.layer
    skipped = behind + (hardware.pool_stride[0] - 1) * columns
    skipped *= (layer.in_skip + 1) * layer.operands * hardware.in_passes
    return _counted(device, rows, hardware.pad[0], _behind_last(hardware, rows, 0), skipped)


def _columns(device: Device, hardware: HardwareLayer) -> int:
    columns = _read_size(hardware)[1]
    behind = _behind_last(hardware, columns, 1)
    return _counted(device, columns, hardware.pad[1], behind, behind)


def _stride(device: Device, hardware: HardwareLayer) -> int:
    if hardware.operation == "convtranspose2d":
        value = 0
    elif hardware.pool_stride[0] > 1:
        value = hardware.pool_stride[0] - 1
    else:
        value = hardware.stride[0] - 1
    if device is MAX78000:
        return value
    layer = hardware.layer
    return value | hardware.pool_stride[0] * layer.operands * hardware.in_passes * (layer.in_skip + 1) << 4


def _write_pointers(device: Device, hardware: HardwareLayer, quadrant: int) -> Iterator[Field]:
    places = addresses.of(device)
    layer = hardware.layer
    step = places.write_pointer_step
    offset = (layer.out_offset - hardware.skipped_bytes) // WORD
    memory = _first_memory(hardware, quadrant)
    yield "write_pointer", 0 if memory is None else offset | memory << places.write_pointer_bits
    if not hardware.convolves:
        several = processors.count(layer.processors) > PROCESSORS_PER_MEMORY
        several |= layer.operands > 1 and hardware.in_passes > 1
        yield "slot_offset", step if several else step // PROCESSORS_PER_MEMORY
    elif hardware.operation == "conv1d" or hardware.operation == "convtranspose2d":
        yield "slot_offset", 0
    elif hardware.groups > 1:
        yield "slot_offset", 0 if hardware.broadcasts else step
    else:
        yield "slot_offset", int(hardware.kernel_size == (1, 1))
    yield "mask_offset", step if hardware.convolves else 0
    apart = layer.output_width // 8 * (layer.write_gap + 1)
    yield "channel_offset", apart if hardware.out_passes > 1 else 0


def _first_memory(hardware: HardwareLayer, quadrant: int) -> int | None:
    """The data memory that a quadrant writes to first; convolutions have one for all quadrants."""
    layer = hardware.layer
    if hardware.convolves and (hardware.groups == 1 or hardware.broadcasts):
        return processors.first(layer.output_processors) // PROCESSORS_PER_MEMORY
    if not hardware.convolves:
        written = processors.in_quadrant(layer.output_processors, quadrant)
        if not written:
            return 0
        return (quadrant * PROCESSORS_PER_QUADRANT + processors.first(written)) // PROCESSORS_PER_MEMORY
    start, within = divmod(processors.first(layer.processors), PROCESSORS_PER_QUADRANT)
    if quadrant < start:
        return None
    first = (quadrant - start) * PROCESSORS_PER_QUADRANT + processors.first(layer.output_processors)
    return (first - (within if quadrant != start else 0)) // PROCESSORS_PER_MEMORY


def _time_slots(hardware: HardwareLayer) -> int:
    """One less than how often a quadrant writes for each pixel, the quadrant that writes most."""
    layer = hardware.layer
    most = 0
    for quadrant in processors.quadrants(layer.processors):
        number = processors.count(processors.in_quadrant(layer.processors, quadrant))
        if not hardware.convolves:
            slots = (number * layer.output_width // 8 - 1) // PROCESSORS_PER_MEMORY
        elif hardware.groups == 1:
            slots = 0
        elif hardware.broadcasts:
            slots = min(number, PROCESSORS_PER_MEMORY) * (layer.output_width // 8) - 1
        else:
            slots = (number * layer.output_width + 7) // 8 - 1
        most = max(most, slots)
    return most


def _control(placed: Placed, at: int, quadrant: int) -> int:
    hardware = placed.layers[at]
    layer = hardware.layer
    average = layer.pool is not None and layer.pool.kind == "average"
    value = 1 << 5 | layer.big_data << 6 | hardware.pools << 7 | (not average) << 8
    value |= (layer.activation == "relu") << 9
    value |= (not _writes_locally(placed, hardware)) << 11
    value |= (hardware.groups > 1 and hardware.broadcasts) << 29
    value |= (layer.output_width != 8) << 16
    if hardware.convolves and hardware.groups == 1 and quadrant == placed.quadrants[0]:
        others = set(processors.quadrants(layer.processors))
        biases = placed.biases.placed.get(at)
        if biases is not None and biases.quadrant is not None:
            others.add(biases.quadrant)
        value |= sum(1 << other for other in others - {quadrant}) << 12
    if placed.network.device is not MAX78000:
        value |= _control_of_max78002(hardware)
    return value


def _control_of_max78002(hardware: HardwareLayer) -> int:
    value = hardware.hint("bypass") << 30
    if hardware.convolves:
        value |= hardware.kernel_size[0] - 1 << 22 | hardware.kernel_size[1] - 1 << 18
    if hardware.hint("readahead"):
        passes = hardware.in_passes - 1
        value |= 1 << 17 | (passes // 4 if whole_words(hardware) else passes) << 26
    return value


def _writes_locally(placed: Placed, hardware: HardwareLayer) -> bool:
    """Where outputs of a quadrant leave gaps that time slots cannot make."""
    for quadrant in placed.quadrants:
        written = processors.used(processors.in_quadrant(hardware.layer.output_processors, quadrant))
        gaps = {after - before - 1 for before, after in itertools.pairwise(written)}
        if len(gaps) > 1 or (not hardware.convolves and gaps and max(gaps)):
            return True
    return False


def flat_passes(hardware: HardwareLayer) -> int:
    """One less than the passes over flattened pixels; zero where nothing is flattened."""
    if not hardware.layer.flatten:
        return 0
    return hardware.in_passes * hardware.pooled[0] * hardware.pooled[1] - 1


def _control2(device: Device, hardware: HardwareLayer) -> int:
    layer = hardware.layer
    if layer.flatten:
        passes = flat_passes(hardware) & _MOST_FLAT - 1
    elif not hardware.convolves and hardware.eltwise_by_rows:
        passes = 0
    else:
        passes = hardware.in_passes - 1
    reach = processors.last(layer.output_processors) - processors.first_memory(layer.output_processors)
    skip = layer.write_gap
    if hardware.convolves:
        skip = hardware.out_passes * (layer.write_gap + 1) - 1
    bits = _kernel_bits(hardware) if hardware.convolves else 0
    return reach * bits << (8 if device is MAX78000 else 12) | skip << 4 | passes


def _kernel_bits(hardware: HardwareLayer) -> int:
    return 8 if hardware.hint("bypass") else hardware.weight_bits


def _kernel_start(placed: Placed, at: int) -> tuple[int, int]:
    """The first kernel of a layer, and the byte within it where its column begins."""
    hardware = placed.layers[at]
    kernels = placed.kernels.placed.get(at)
    taps = hardware.kernel_size[0] * hardware.kernel_size[1]
    kernel, byte = divmod(BYTES_PER_COLUMN * (kernels.start if kernels else 0), taps)
    return real_kernel(placed.network.device, kernel) if hardware.hint("calcx4") else kernel, byte


def _masks(placed: Placed, at: int) -> Iterator[Field]:
    """Which kernels are read, in bits."""
    hardware = placed.layers[at]
    device = placed.network.device
    if not hardware.convolves:
        passes = 0 if hardware.eltwise_by_rows else (hardware.out_passes - 1) * 8
        yield ("masks" if device is MAX78000 else "mask_start"), passes
        return
    kernels = placed.kernels.placed.get(at)
    count = kernels.count if kernels else hardware.layer.out_channels // hardware.groups
    start = _kernel_start(placed, at)[0] * 8
    bits = _kernel_bits(hardware)
    reach = (count - 1) * bits
    if hardware.first and hardware.hint("calcx4"):
        reach = -(-(reach + bits) // 4) - bits
    end = start + reach
    if device is MAX78000:
        yield "masks", start << 16 | end
    else:
        yield "masks", end
        yield "mask_start", start


def _outputs(placed: Placed, at: int, slots: int) -> int:
    """One less than the outputs that the MAX78002 counts."""
    hardware = placed.layers[at]
    if not hardware.convolves:
        return slots
    if hardware.hint("bypass"):
        return hardware.layer.out_channels - 1
    if hardware.groups > 1:
        return (slots + 1) * hardware.in_passes - 1
    outputs = placed.kernels.placed[at].outputs - 1
    return outputs // 4 if hardware.hint("calcx4") else outputs


def _one_d(placed: Placed, at: int, slots: int) -> int:
    hardware = placed.layers[at]
    layer = hardware.layer
    value = slots
    if hardware.operation == "conv1d":
        value |= hardware.kernel_size[0] << 8 | 1 << 12
    elif _single_tap(hardware) or (not hardware.convolves and layer.operands == 1):
        value |= 1 << 8
    if layer.operands > 1 and layer.eltwise is not None:
        value |= 1 << 13 | _ELTWISE[layer.eltwise] << 14 | layer.operands - 1 << 18
        value |= (hardware.pools and layer.pool_first) << 16 | hardware.convolves << 17
    if hardware.convolves:
        value |= _kernel_start(placed, at)[1] << 4
    return value


def _single_tap(hardware: HardwareLayer) -> bool:
    return hardware.operation in ("conv2d", "linear") and hardware.kernel_size == (1, 1)


def tram_columns(hardware: HardwareLayer) -> int:
    """How many columns of a row are kept while a kernel goes over it."""
    if not hardware.convolves:
        return 1
    width, pad, kernel = hardware.pooled[1], hardware.pad[1], hardware.kernel_size[1]
    if hardware.operation == "convtranspose2d":
        assert hardware.layer.kernel is not None
        width = (width - 1) * hardware.stride[1] + 1 + hardware.layer.kernel.output_pad[1]
    return max(0, width + 2 * pad - kernel) + 1


def _tram(placed: Placed, at: int) -> int:
    hardware = placed.layers[at]
    streams = hardware.layer.streaming and at > 0
    if hardware.operation == "conv1d" or (_single_tap(hardware) and not streams):
        passes = flat_passes(hardware)
        return passes << 16 | 2 * passes + 1 if passes >= _MOST_FLAT else 0
    value = tram_columns(hardware) - 1
    if streams:
        before = sum(tram_columns(other) * other.in_passes for other in placed.layers[:at])
        value = value + before | before << 16
    return value


def _post(placed: Placed, at: int, quadrant: int) -> int:
    hardware = placed.layers[at]
    layer = hardware.layer
    value = _WIDTH_CODES[hardware.weight_bits] << 22
    shift = layer.output_shift + (8 - _kernel_bits(hardware) if hardware.convolves else 0)
    value |= (-shift | 1 << 4) << 13 if shift < 0 else shift << 13
    biases = placed.biases.placed.get(at)
    if biases is not None and biases.quadrant in (None, quadrant):
        offset = biases.offsets[quadrant]
        if offset is not None:
            four_at_once = hardware.broadcasts or hardware.hint("calcx4")
            value |= 1 << 12 | (offset // 4 if four_at_once else offset)
    if not hardware.convolves:
        value |= (3 if layer.operands == 1 else 1) << 24
    value |= (layer.activation == "abs") << 26
    passes = flat_passes(hardware)
    if passes >= _MOST_FLAT:
        value |= 1 << 27 | passes >> 4 << 18
    value |= (hardware.operation == "convtranspose2d") << 28
    if hardware.groups > 1:
        value |= 1 << 30 | 1 << 24
    return value | hardware.hint("calcx4") << 29 | whole_words(hardware) << 31
