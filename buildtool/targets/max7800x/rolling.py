"""The data buffer of a description: pixels that stay in data memory from one run to the next.

Layers without a kernel shift it (`buffer_shift`), any layer may put new pixels at its end (`buffer_insert`), and layers
read it from the pixel on that their `in_offset` says. Programs begin with a buffer of zeros, and so do simulations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x.devices import PROCESSORS
from buildtool.targets.max7800x.network import BUFFER, DataBuffer, Layer, Network

SHIFT, INSERT = "buffer_shift", "buffer_insert"
_WORD = 4

Values = NDArray[np.int64]


def buffer_of(network: Network) -> DataBuffer | None:
    """The one that there may be, where some layer has to do with it."""
    used = any(BUFFER in layer.sources or writes(layer) for layer in network.layers)
    return network.data_buffers[0] if used and network.data_buffers else None


def pixels_of(buffer: DataBuffer) -> int:
    return math.prod(buffer.size)


def writes(layer: Layer) -> bool:
    """Whether a layer changes the buffer."""
    return SHIFT in layer.hints or INSERT in layer.hints


def first_read(buffer: DataBuffer, layer: Layer) -> int:
    """The pixel that a layer reads first."""
    return (layer.in_offset - buffer.offset) // _WORD


def first_written(buffer: DataBuffer, layer: Layer) -> int:
    return (layer.out_offset - buffer.offset) // _WORD


class Contents:
    """What is in the buffer while a network runs."""

    def __init__(self, network: Network) -> None:
        self._buffer = buffer_of(network)
        shape = (0, 0) if self._buffer is None else (self._buffer.channels, pixels_of(self._buffer))
        self._values: Values = np.zeros(shape, np.int64)

    def read(self, layer: Layer) -> Values:
        """What a layer reads: [channels, rows, columns]."""
        assert self._buffer is not None
        begin = first_read(self._buffer, layer)
        taken: Values = self._values[:, begin : begin + math.prod(layer.in_size)]
        values: Values = taken.reshape(len(taken), *layer.in_size).copy()
        return values

    def write(self, layer: Layer, output: Values) -> None:
        """A layer that changes the buffer has run."""
        if writes(layer) and self._buffer is not None:
            begin = first_written(self._buffer, layer)
            self._values[:, begin : begin + math.prod(layer.out_size)] = output.reshape(len(output), -1)


def problems(network: Network, layer: Layer) -> Iterator[tuple[str, str]]:
    """What is wrong with the use of the buffer, and the rule."""
    reads = BUFFER in layer.sources
    if not reads and not writes(layer):
        return
    buffer = buffer_of(network)
    if buffer is None:
        yield "there is no data buffer", "write a section `data_buffer`"
        return
    if buffer.width != 8 or buffer.channels > PROCESSORS or buffer.processors.bit_count() != buffer.channels:
        yield (
            f"the data buffer has {buffer.channels} channels of {buffer.width} bits",
            f"8 bits, and as many processors as channels, {PROCESSORS} at most",
        )
        return
    if reads:
        yield from _reading(buffer, layer)
    if writes(layer):
        yield from _writing(buffer, layer)


def _reading(buffer: DataBuffer, layer: Layer) -> Iterator[tuple[str, str]]:
    plain = layer.sources == (BUFFER,) and layer.operands == 1 and not layer.in_skip and not layer.big_data
    if not plain or layer.in_crop is not None or layer.in_channel_skip:
        yield "the data buffer is combined with other inputs", "alone, without operands, gaps or cuts"
    if layer.processors != buffer.processors or layer.in_channels != buffer.channels:
        yield (
            f"{layer.in_channels} channels of the data buffer are read by 0x{layer.processors:016x}",
            f"all {buffer.channels}, by 0x{buffer.processors:016x}",
        )
    yield from _inside(buffer, layer.in_offset, math.prod(layer.in_size), "read")


def _writing(buffer: DataBuffer, layer: Layer) -> Iterator[tuple[str, str]]:
    if layer.output_processors != buffer.processors or layer.out_channels != buffer.channels:
        yield (
            f"{layer.out_channels} channels go to the data buffer by 0x{layer.output_processors:016x}",
            f"all {buffer.channels}, by 0x{buffer.processors:016x}",
        )
    if layer.output_width != 8 or layer.write_gap:
        yield "outputs of 32 bits, or with gaps, go to the data buffer", "8 bits, one after the other"
    count = math.prod(layer.out_size)
    yield from _inside(buffer, layer.out_offset, count, "written")
    rows = int(layer.hints.get(SHIFT, 0)) or int(layer.hints.get(INSERT, 0))
    step = rows * buffer.size[1]
    if SHIFT in layer.hints:
        moved = layer.in_offset - layer.out_offset
        if BUFFER not in layer.sources or layer.pool is not None or moved != step * _WORD:
            yield (
                f"`{SHIFT}: {rows}` moves pixels by {moved} bytes",
                f"it reads the buffer, does nothing else, and `out_offset` is {step * _WORD} below `in_offset`",
            )
    elif step != count or first_written(buffer, layer) + count != pixels_of(buffer):
        yield (
            f"`{INSERT}: {rows}` puts {count} pixels from {layer.out_offset:#06x} on",
            f"so many rows at the end of the buffer: {buffer.size[0]} x {buffer.size[1]} from {buffer.offset:#06x} on",
        )


def _inside(buffer: DataBuffer, offset: int, count: int, word: str) -> Iterator[tuple[str, str]]:
    begin = (offset - buffer.offset) // _WORD
    if offset % _WORD or begin < 0 or begin + count > pixels_of(buffer):
        end = buffer.offset + pixels_of(buffer) * _WORD
        yield (
            f"{count} pixels of the data buffer are {word} from {offset:#06x} on",
            f"it extends from {buffer.offset:#06x} to {end:#06x}, a word for each pixel",
        )
