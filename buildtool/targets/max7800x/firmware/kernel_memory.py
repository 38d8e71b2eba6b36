"""Kernels as the processors read them: packed into columns of nine bytes, and a place for those of every layer.

A processor goes through the kernels of its channel one after the other: for each pass of outputs one for every
processor from the first of a data memory to the last that is written, for each of these one per pass of inputs. The
bytes of a kernel lie from the last of a column to its first; less than eight bits share bytes with those that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Problem, UnsupportedError
from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY, PROCESSORS_PER_QUADRANT, Device
from buildtool.targets.max7800x.firmware.addresses import BYTES_PER_COLUMN
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer

FREE = -1  # in `KernelMemory.owners`
_AT_ONCE = 4  # outputs that calcx4 computes, with kernels from four parts of the memory
_ALIGNMENT = 4  # of the columns where a layer's kernels begin
_EVERY_PROCESSOR = (1 << PROCESSORS) - 1
_BLOCK = 1024  # columns of kernel memory that one memory of the MAX78002 holds; of the first processors' rest a quarter
_SMALL_BLOCK = 256


@dataclass(frozen=True)
class PackedKernels:
    """The kernels of one layer, as every one of its processors holds them."""

    columns: NDArray[np.uint8]  # [processors, columns, 9]
    claimed: NDArray[np.bool_]  # [columns]: those that hold something
    count: int  # of kernels that the hardware goes through
    outputs: int  # the same for the MAX78002, which counts outputs

    def same_as(self, other: PackedKernels) -> bool:
        return (
            (self.count, self.outputs) == (other.count, other.outputs)
            and np.array_equal(self.claimed, other.claimed)
            and np.array_equal(self.columns, other.columns)
        )


@dataclass(frozen=True)
class PlacedKernels:
    """Where the kernels of one layer are."""

    start: int  # column
    columns: int
    count: int
    outputs: int


@dataclass(frozen=True)
class Chunk:
    """Columns of one processor that follow each other."""

    processor: int
    column: int
    data: bytes  # nine for each column


@dataclass(frozen=True)
class KernelMemory:
    """All kernels of a network."""

    device: Device
    placed: Mapping[int, PlacedKernels]  # by position of the layer
    owners: NDArray[np.int64]  # [processors, columns]: the index of the layer, or FREE
    bytes: NDArray[np.uint8]  # [processors, columns, 9]

    def chunks(self) -> Iterator[Chunk]:
        """What has to be loaded, in the order of processors and columns."""
        for processor in range(PROCESSORS):
            held = np.flatnonzero(self.owners[processor] != FREE)
            for run in np.split(held, np.flatnonzero(np.diff(held) != 1) + 1):
                if len(run):
                    yield Chunk(processor, int(run[0]), self.bytes[processor, run].tobytes())


def width(device: Device, processor: int) -> int:
    """How many columns a processor has."""
    return device.kernel_columns if processor % PROCESSORS_PER_QUADRANT else device.first_kernel_columns


def pack(hardware: HardwareLayer) -> PackedKernels:
    """The kernels of a layer that has some."""
    layer = hardware.layer
    assert hardware.weights is not None
    taps = hardware.kernel_size[0] * hardware.kernel_size[1]
    inputs = hardware.in_passes * hardware.in_per_pass
    weights = np.minimum(hardware.weights, 0) if hardware.bits < 0 else hardware.weights
    if hardware.hint("calcx4"):  # every fourth output, then those beside them
        weights = np.concatenate([weights[first::_AT_ONCE] for first in range(_AT_ONCE)])
    if hardware.groups > 1:
        kernels, used = _depthwise(hardware, weights.reshape(layer.out_channels, 1, taps))
    else:
        slots = _slots(hardware)
        while layer.flatten and (slots[-1] is None or slots[-1] >= layer.out_channels):
            slots.pop()
        channels = weights.reshape(layer.out_channels, layer.in_channels, -1)  # of a flattened layer: by pixels
        padded = np.zeros((len(slots), inputs, channels.shape[2]), channels.dtype)
        for at, slot in enumerate(slots):
            if slot is not None and slot < layer.out_channels:
                padded[at, : layer.in_channels] = channels[slot]
        by_pass = padded.reshape(len(slots), hardware.in_passes, hardware.in_per_pass, -1)
        used = np.array([slot is not None for slot in slots])
        if layer.flatten:  # one number after the other: output, pixel, pass
            kernels = by_pass.transpose(2, 0, 3, 1).reshape(hardware.in_per_pass, -1, 1)
        else:
            kernels = by_pass.transpose(2, 0, 1, 3).reshape(hardware.in_per_pass, -1, taps)
        used = np.repeat(used, kernels.shape[1] // len(slots))
    columns, claimed = _columns(kernels, used, hardware.weight_bits)
    count, outputs = _counts(hardware, kernels.shape[1])
    beyond = max(0, _reserved(hardware, count) - len(claimed))
    columns = np.pad(columns, ((0, 0), (0, beyond), (0, 0)))
    return PackedKernels(columns, np.pad(claimed, (0, beyond), constant_values=True), count, outputs)


def _slots(hardware: HardwareLayer) -> list[int | None]:
    """The output channel that each kernel makes, None where the processor is not written."""
    layer = hardware.layer
    reached = range(_first(hardware), processors.last(layer.output_processors) + 1)
    slots: list[int | None] = []
    channel = 0
    for _ in range(hardware.out_passes):
        for number in reached:
            written = layer.output_processors >> number & 1
            slots.append(channel if written else None)
            channel += written
    return slots


def _depthwise(hardware: HardwareLayer, weights: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """One kernel for each pass: channels do not meet."""
    padded = np.zeros((hardware.in_passes * hardware.in_per_pass, weights.shape[2]), weights.dtype)
    padded[: len(weights)] = weights[:, 0]
    kernels = padded.reshape(hardware.in_passes, hardware.in_per_pass, -1).transpose(1, 0, 2)
    return kernels, np.ones(hardware.in_passes, bool)


def _counts(hardware: HardwareLayer, kernels: int) -> tuple[int, int]:
    """How many kernels and how many outputs the registers tell of."""
    layer = hardware.layer
    if hardware.groups > 1:
        reached = processors.last(layer.output_processors) + 1 - _first(hardware)
        return kernels, reached * hardware.in_passes
    return kernels, kernels


def _reserved(hardware: HardwareLayer, count: int) -> int:
    """The columns that a layer takes at least.

    Kernels that share bytes are given room as if those that are too few for a byte had one each, for each pass of
    inputs. A few columns are lost; in return places are those that the manufacturer's tool chooses.
    """
    together = 8 // hardware.weight_bits
    taps = hardware.kernel_size[0] * hardware.kernel_size[1]
    lead = processors.first(hardware.layer.output_processors) % PROCESSORS_PER_MEMORY
    slots = processors.last(hardware.layer.output_processors) + 1 - _first(hardware)
    if hardware.out_passes == 1 and hardware.groups == 1:
        count -= lead * (count // slots)
    bits = count * taps * hardware.weight_bits + count % together * taps * (together - 1)
    reserved = lead + -(-bits // (8 * BYTES_PER_COLUMN))
    if hardware.groups > 1 or hardware.layer.flatten:
        return reserved
    shared = -(-hardware.out_passes * slots // together) * hardware.in_passes * taps
    return max(reserved, -(-shared // BYTES_PER_COLUMN))


def _first(hardware: HardwareLayer) -> int:
    return processors.first_memory(hardware.layer.output_processors)


def _columns(
    kernels: NDArray[np.int8], used: NDArray[np.bool_], bits: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """[processors, kernels, taps] as [processors, columns, 9], and which columns hold one of the `used` kernels."""
    together = 8 // bits
    short = -kernels.shape[1] % together
    numbers = np.pad(kernels, ((0, 0), (0, short), (0, 0))).astype(np.uint8) & ((1 << bits) - 1)
    groups = numbers.reshape(len(numbers), -1, together, kernels.shape[2])
    shifts = (np.arange(together) * bits).astype(np.uint8)
    packed = np.bitwise_or.reduce(groups << shifts[:, None], axis=2)
    stream = packed[:, :, ::-1].reshape(len(packed), -1)
    held = np.pad(used, (0, short)).reshape(-1, together).any(axis=1).repeat(kernels.shape[2])
    rest = -stream.shape[1] % BYTES_PER_COLUMN
    stream = np.pad(stream, ((0, 0), (0, rest)))
    held = np.pad(held, (0, rest))
    columns = stream.reshape(len(stream), -1, BYTES_PER_COLUMN)[:, :, ::-1]
    return columns, np.logical_or.reduce(held.reshape(-1, BYTES_PER_COLUMN), axis=1)


def place(device: Device, layers: Sequence[HardwareLayer]) -> KernelMemory:
    """Pack the kernels of all layers and find columns for them.

    Layers that use every processor come first, the rest in their order; each goes to the first columns that are free on
    all its processors. Kernels that are there already are not stored again. UnsupportedError names each layer that
    finds no place, and how many columns it is short of.
    """
    owners = np.full((PROCESSORS, max(device.kernel_columns, device.first_kernel_columns)), FREE, np.int64)
    # where searches are made; with calcx4 not where columns are
    memory = KernelMemory(device, {}, owners.copy(), np.zeros((*owners.shape, BYTES_PER_COLUMN), np.uint8))
    placed: dict[int, PlacedKernels] = {}
    packed: dict[int, PackedKernels] = {}
    problems: list[Problem] = []
    for at in sorted(range(len(layers)), key=lambda at: layers[at].layer.processors != _EVERY_PROCESSOR):
        hardware = layers[at]
        if hardware.weights is None:
            continue
        kernels = pack(hardware)
        twin = _twin(layers, packed, hardware, kernels)
        if twin is not None:
            placed[at] = placed[twin]
            continue
        changes = at > 0 and hardware.hint("calcx4") and not layers[at - 1].hint("calcx4")
        taken = memory.owners != FREE
        if not hardware.hint("calcx4"):
            taken |= owners != FREE
        start = _free_columns(device, taken, hardware, kernels)
        if start is not None and changes:
            start *= _AT_ONCE  # behind the columns of the layers before it in each part
        if start is None:
            problems.append(_no_room(device, memory, hardware, kernels))
            continue
        packed[at] = kernels
        placed[at] = PlacedKernels(start, len(kernels.claimed), kernels.count, kernels.outputs)
        rows = np.array(processors.used(hardware.layer.processors))[:, None]
        held = np.flatnonzero(kernels.claimed)
        memory.owners[rows, start + held] = hardware.layer.index
        columns = real_columns(device, hardware, start, held)
        if (owners[rows, columns] != FREE).any():
            problems.append(_mixed(hardware))
            continue
        owners[rows, columns] = hardware.layer.index
        memory.bytes[rows, columns] = kernels.columns[:, kernels.claimed]
    if problems:
        raise UnsupportedError(problems)
    return KernelMemory(device, dict(sorted(placed.items())), owners, memory.bytes)


def real_columns(device: Device, hardware: HardwareLayer, start: int, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where columns of a layer that begins at `start` are: with calcx4 a fourth of them in each part of the memory."""
    if not hardware.hint("calcx4"):
        return start + columns
    taps = hardware.kernel_size[0] * hardware.kernel_size[1]
    numbers = hardware.in_passes * hardware.layer.out_channels * hardware.weight_bits
    share = -(-(numbers * BYTES_PER_COLUMN // (taps * 8)) // _AT_ONCE)
    part, rest = np.divmod(columns, share)
    return part * (device.kernel_columns // _AT_ONCE) + rest + start // _AT_ONCE


def real_kernel(device: Device, kernel: int) -> int:
    """The number of a kernel as registers count it where calcx4 reads four parts of the memory."""
    rest, part = divmod(kernel, _AT_ONCE)
    return part * (device.kernel_columns // _AT_ONCE) + rest


def _mixed(hardware: HardwareLayer) -> Problem:
    return Problem(
        "kernels for calcx4 overlap the kernels of other layers",
        hardware.where,
        rule="calcx4 reads four parts of the kernel memory at once",
        remedy="use calcx4 in all layers after this one, or in none",
    )


def _twin(
    layers: Sequence[HardwareLayer],
    packed: Mapping[int, PackedKernels],
    hardware: HardwareLayer,
    kernels: PackedKernels,
) -> int | None:
    """The position of a layer with the same kernels on the same processors."""
    for at, other in packed.items():
        same_processors = layers[at].layer.processors == hardware.layer.processors
        if same_processors and layers[at].bits == hardware.bits and other.same_as(kernels):
            return at
    return None


def _free_columns(
    device: Device, held: NDArray[np.bool_], hardware: HardwareLayer, kernels: PackedKernels
) -> int | None:
    """The column where a layer's kernels go, None where no place is left.

    Only the first processors of quadrants have the columns at the end: what is theirs alone begins there.
    """
    numbers = processors.used(hardware.layer.processors)
    room = min(width(device, number) for number in numbers)
    length = len(kernels.claimed)
    taken = np.logical_or.reduce(held[numbers], axis=0)
    depthwise = hardware.groups > 1 and device.kernel_columns > _BLOCK
    starts = range(0, room - length + 1, _ALIGNMENT)
    at_end = room > device.kernel_columns and not hardware.hint("calcx4") and (not depthwise or length <= _SMALL_BLOCK)
    for start in reversed(starts) if at_end else starts:
        if taken[start : start + length].any():
            continue
        if depthwise and _block(device, start) != _block(device, start + length - 1):
            continue
        return start
    return None


def _block(device: Device, column: int) -> tuple[bool, int]:
    """The one of several memories that holds a column."""
    if column < device.kernel_columns:
        return False, column // _BLOCK
    return True, (column - device.kernel_columns) // _SMALL_BLOCK


def _no_room(device: Device, memory: KernelMemory, hardware: HardwareLayer, kernels: PackedKernels) -> Problem:
    numbers = processors.used(hardware.layer.processors)
    room = min(width(device, number) for number in numbers)
    taken = (memory.owners[numbers] != FREE).any(axis=0)[:room]
    free = _longest_free(taken)
    fullest = max(numbers, key=lambda number: int((memory.owners[number] != FREE).sum()))
    length = len(kernels.claimed)
    helps = "store weights in fewer bits, use fewer channels" if hardware.weight_bits > 1 else "use fewer channels"
    return Problem(
        f"kernel memory is full: {length} columns in a row are needed on each of {len(numbers)} processors,"
        f" {free} are left; {length - free} too many",
        hardware.where,
        rule=f"{room} columns of {BYTES_PER_COLUMN} bytes for each processor; layers before this one hold"
        f" {int((memory.owners[fullest] != FREE).sum())} of processor {fullest}",
        remedy=f"{helps}, or move layers to processors with free memory",
    )


def _longest_free(taken: NDArray[np.bool_]) -> int:
    """The most columns in a row that are free from where a layer may begin."""
    longest = run = 0
    for column in range(len(taken) - 1, -1, -1):
        run = 0 if taken[column] else run + 1
        if column % _ALIGNMENT == 0:
            longest = max(longest, run)
    return longest
