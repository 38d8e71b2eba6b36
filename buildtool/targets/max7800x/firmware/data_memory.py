"""What lies where in data memory: words of the input, words that are expected as output, how outputs are read.

Four processors share a memory, and a word holds a byte of each. Of planes (CHW) a word holds four pixels of a channel.
Outputs of 32 bits take a word for each processor, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import PROCESSORS_PER_MEMORY, QUADRANTS, Device
from buildtool.targets.max7800x.firmware import addresses
from buildtool.targets.max7800x.firmware.addresses import WORD, AddressMap
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.network import Layer, Network

ALL = 0xFFFFFFFF
Values = NDArray[np.int64]


@dataclass(frozen=True)
class InputBlock:
    """Words of the input that go to one place."""

    name: int  # of its array: the first of its processors, or the FIFO
    address: int | None  # None: they go through a FIFO
    fifo: int | None
    words: tuple[int, ...]


@dataclass(frozen=True)
class ExpectedBlock:
    """Words that follow each other in memory, after the network has run."""

    address: int
    mask: int  # of the bits that count
    words: tuple[int, ...]


@dataclass(frozen=True)
class UnloadRun:
    """Words of the output that are read one after the other: one for each pixel, of 32 bits `words` for each."""

    address: int
    step: int  # bytes to the next pixel
    count: int  # of pixels
    lanes: tuple[int, ...]  # of 8 bits: the bytes of a word that are channels; of 32 bits: the words that are
    channel: int  # of the first lane


@dataclass(frozen=True)
class Unload:
    """How to read one output."""

    channels: int
    size: tuple[int, int]
    width: int  # bits
    runs: tuple[UnloadRun, ...]

    @property
    def pixels(self) -> int:
        return self.size[0] * self.size[1]


@dataclass(frozen=True)
class Stored:
    """Where an output is: what is known of a layer's, or written down by hand."""

    channels: int
    size: tuple[int, int]
    processors: int
    offset: int
    width: int
    gap: int

    def groups(self) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
        """Of each pass and data memory: the pass, its first processor, the first channel, the lanes that are used."""
        channel = 0
        per_pass = processors.per_pass(self.channels)
        for number in range(processors.passes(self.channels)):
            end = min(self.channels, (number + 1) * per_pass)
            for memory in processors.memories(self.processors):
                if channel == end:
                    break
                bits = self.processors >> memory * PROCESSORS_PER_MEMORY & (1 << PROCESSORS_PER_MEMORY) - 1
                lanes = tuple(processors.used(bits))[: end - channel]
                yield number, memory * PROCESSORS_PER_MEMORY, channel, lanes
                channel += len(lanes)

    def address(self, places: AddressMap, processor: int, number: int) -> int:
        """Of the first pixel of a pass in the memory of a processor."""
        return places.data_memory(processor) + self.offset + number * self.width // 8 * WORD * (self.gap + 1)

    @property
    def step(self) -> int:
        """Bytes from one pixel to the next."""
        return processors.passes(self.channels) * self.width // 8 * WORD * (self.gap + 1)


def stored(layer: Layer) -> Stored:
    """Where the output of a layer lies."""
    return Stored(
        layer.out_channels,
        layer.out_size,
        layer.output_processors,
        layer.out_offset,
        layer.output_width,
        layer.write_gap,
    )


def unload(device: Device, output: Stored) -> Unload:
    """The words of an output, those of a data memory after each other."""
    places = addresses.of(device)
    runs = tuple(
        UnloadRun(
            output.address(places, processor, number) + (lanes[0] * WORD if output.width == 32 else 0),
            output.step,
            output.size[0] * output.size[1],
            lanes,
            channel,
        )
        for number, processor, channel, lanes in output.groups()
    )
    return Unload(output.channels, output.size, output.width, runs)


def expected(device: Device, outputs: list[tuple[Stored, Values]]) -> tuple[ExpectedBlock, ...]:
    """The words of outputs, [channels, rows, columns] each, in the order of masks and addresses."""
    places = addresses.of(device)
    words: dict[tuple[int, int], int] = {}
    for output, values in outputs:
        flat = values.reshape(output.channels, -1)
        for number, processor, channel, lanes in output.groups():
            start = output.address(places, processor, number)
            part = flat[channel : channel + len(lanes)]
            if output.width == 32:
                for lane, row in zip(lanes, part, strict=True):
                    at = start + lane * WORD
                    words.update({(ALL, at + pixel * output.step): int(value) & ALL for pixel, value in enumerate(row)})
                continue
            mask = _mask(lanes)
            packed = _packed(part, lanes)
            words.update({(mask, start + pixel * output.step): int(word) for pixel, word in enumerate(packed)})
    return tuple(_blocks(words))


def _mask(lanes: tuple[int, ...]) -> int:
    return sum(0xFF << 8 * lane for lane in lanes)


def _packed(channels: Values, lanes: tuple[int, ...]) -> Values:
    """Words with a byte of each channel, in the given lanes."""
    words = np.zeros(channels.shape[1], np.int64)
    for lane, channel in zip(lanes, channels, strict=True):
        words |= (channel & 0xFF) << 8 * lane
    return words


def _blocks(words: dict[tuple[int, int], int]) -> Iterator[ExpectedBlock]:
    run: list[int] = []
    begun = (0, 0)
    for (mask, address), word in sorted(words.items()):
        if run and (mask != begun[0] or address != begun[1] + len(run) * WORD):
            yield ExpectedBlock(begun[1], begun[0], tuple(run))
            run = []
        if not run:
            begun = (mask, address)
        run.append(word)
    if run:
        yield ExpectedBlock(begun[1], begun[0], tuple(run))


def inputs(network: Network, first: HardwareLayer, sample: Values) -> tuple[InputBlock, ...]:
    """The words of a sample of [channels, rows, columns], and where they go."""
    if network.fifo:
        return _for_fifos(first, sample)
    places = addresses.of(network.device)
    layer = first.layer
    operands = np.array(np.split(sample, layer.operands))  # [operands, channels, rows, columns]
    pixels = operands.reshape(layer.operands, layer.in_channels, -1)
    if layer.big_data:
        return tuple(
            InputBlock(number, places.data_memory(number) + layer.in_offset, None, _planar(pixels[0, channel]))
            for channel, number in enumerate(processors.used(layer.processors))
        )
    return tuple(_interleaved(places, first, pixels))


def _planar(channel: Values) -> tuple[int, ...]:
    values = np.pad(channel, (0, -len(channel) % 4)) & 0xFF
    return tuple(int(word) for word in values.reshape(-1, 4) @ (1 << np.arange(0, 32, 8)))


def _interleaved(places: AddressMap, first: HardwareLayer, pixels: Values) -> Iterator[InputBlock]:
    """A block for each data memory: of each pixel the passes, of each pass the operands."""
    layer = first.layer
    channel = 0
    for memory in processors.memories(layer.processors):
        bits = layer.processors >> memory * PROCESSORS_PER_MEMORY & (1 << PROCESSORS_PER_MEMORY) - 1
        lanes = tuple(processors.used(bits))
        words = np.zeros((pixels.shape[2], first.in_passes, layer.operands), np.int64)
        for number in range(first.in_passes):
            start = number * first.in_per_pass + channel
            for operand, channels in enumerate(pixels):
                present = channels[start : start + len(lanes)]
                words[:, number, operand] = _packed(present, lanes[: len(present)])
        address = places.data_memory(memory * PROCESSORS_PER_MEMORY) + layer.in_offset
        name = memory * PROCESSORS_PER_MEMORY
        yield InputBlock(name, address, None, tuple(int(word) for word in words.reshape(-1)))
        channel += len(lanes)


def _for_fifos(first: HardwareLayer, sample: Values) -> tuple[InputBlock, ...]:
    """What each of the FIFOs, one for each quadrant, is given."""
    layer = first.layer
    pixels = sample.reshape(layer.in_channels, -1)
    blocks = []
    channel = 0
    for quadrant in range(QUADRANTS):
        bits = processors.in_quadrant(layer.processors, quadrant)
        lanes = tuple(processors.used(bits & (1 << PROCESSORS_PER_MEMORY) - 1))
        if not lanes:
            continue
        if layer.big_data:
            words = _planar(pixels[channel])
        else:
            words = tuple(int(word) for word in _packed(pixels[channel : channel + len(lanes)], lanes))
        blocks.append(InputBlock(quadrant, None, quadrant, words))
        channel += 1 if layer.big_data else len(lanes)
    return tuple(blocks)
