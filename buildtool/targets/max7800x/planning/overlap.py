"""Checks the places of a network, whoever chose them, and knows nothing of how they were found.

The data memories are played through: every word remembers which layer wrote it last, for which pixel and which pass.
What a layer reads must be what the layers before it wrote for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Problem, Where
from buildtool.targets.max7800x import processors as sets
from buildtool.targets.max7800x import rolling
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY, QUADRANTS
from buildtool.targets.max7800x.firmware.streaming import ring_words, streamed
from buildtool.targets.max7800x.network import BUFFER, INPUT, STOP, Layer, Network

_MEMORIES = PROCESSORS // PROCESSORS_PER_MEMORY
_WORD = 4
_NOBODY = -2


def check(network: Network) -> list[Problem]:
    """Everything that is wrong with the places: none where the list is empty."""
    problems = [problem for layer in network.layers for problem in _masks_and_offsets(network, layer)]
    if problems:
        return problems
    run = _Run(network)
    return [*_quadrants(network), *run.problems()]


def _problem(network: Network, layer: Layer, what: str, rule: str, remedy: str = "") -> Problem:
    source = layer.source
    place = Where(source.file or network.file, source.line, model=network.name, node=source.node or layer.name)
    return Problem(f"layer {layer.index}: {what}", place, rule, remedy)


# -- each layer by itself ------------------------------------------------------------------------------------------
def _masks_and_offsets(network: Network, layer: Layer) -> Iterator[Problem]:
    for words, mask, channels in (
        ("processors", layer.processors, layer.in_channels),
        ("output processors", layer.output_processors, layer.out_channels),
    ):
        wanted = channels if layer.big_data and words == "processors" else sets.per_pass(channels)
        if not 0 < mask < 1 << PROCESSORS or mask.bit_count() != wanted:
            yield _problem(
                network,
                layer,
                f"{channels} channels have the {words} 0x{mask:016x}, {mask.bit_count()} of them",
                f"{channels} channels take {wanted} in {sets.passes(channels)} passes",
                "choose as many processors",
            )
    for words, offset in (("input", layer.in_offset), ("output", layer.out_offset)):
        if offset < 0 or offset % _WORD:
            yield _problem(network, layer, f"the {words} is at {offset}", "offsets are multiples of 4, from 0 on")
    if layer.big_data and any(
        (layer.processors >> memory * PROCESSORS_PER_MEMORY & 0xF).bit_count() > 1 for memory in range(_MEMORIES)
    ):
        yield _problem(
            network, layer, "two planes share a memory", "each plane (CHW) needs a separate memory", "leave 3 out"
        )
    if layer.operation == "none" and not _keeps_together(layer):
        yield _problem(
            network,
            layer,
            f"it passes data from 0x{layer.processors:016x} to 0x{layer.output_processors:016x}",
            "of each 16 processors, those that read are packed: as many neighbours are written, from a multiple of 4",
            "use the same processors, or an identity convolution",
        )


def _keeps_together(layer: Layer) -> bool:
    return all(
        sets.packs_into(
            sets.in_quadrant(layer.processors, quadrant), sets.in_quadrant(layer.output_processors, quadrant)
        )
        for quadrant in range(QUADRANTS)
    )


def _quadrants(network: Network) -> Iterator[Problem]:
    used = network.layers[-1].output_processors
    for layer in network.layers:
        used |= layer.processors
    if not sets.in_quadrant(used, 0):
        yield _problem(
            network, network.layers[0], "no layer uses quadrant 0", "the program starts the others from there"
        )


def _passes_on(layer: Layer) -> bool:
    """Whether it puts out the very words that it reads, for the same processors."""
    alone = layer.operation == "none" and layer.operands == 1 and len(layer.sources) == 1
    changes = layer.pool is not None or layer.in_crop is not None or layer.in_channel_skip or layer.big_data
    same = layer.output_width == 8 and layer.processors == layer.output_processors and layer.in_size == layer.out_size
    return alone and same and not changes


def _may_be_unread(layer: Layer, at: NDArray[np.int64], span: int) -> NDArray[np.bool_]:
    """Of the words at which a layer writes one output pixel after the other: whether they may be input still unread.

    The input is read in the order of its pixels, in one pass, and each pixel for the last time for a certain output
    pixel. What is written after that may lie over it. Of layers that read in another order nothing is known.
    """
    kernel = layer.kernel
    reads_in_order = len(layer.sources) == 1 and layer.operands == 1 and layer.operation in ("conv1d", "conv2d", "none")
    one_pass = sets.passes(layer.in_channels) == sets.passes(layer.out_channels) == 1
    other = layer.big_data or layer.flatten or layer.in_crop is not None or BUFFER in layer.sources
    if not (reads_in_order and one_pass) or other or (kernel is not None and kernel.groups > 1):
        return np.ones(at.size, bool)
    pixels = np.arange(math.prod(layer.in_size))
    last = np.zeros(pixels.size, np.int64)
    for axis, place in enumerate(np.divmod(pixels, layer.in_size[1])):
        step = 1 if layer.pool is None else layer.pool.stride[axis]
        pad = 0 if kernel is None else kernel.pad[axis]
        last = last * layer.out_size[axis] + np.minimum(place // step + pad, layer.out_size[axis] - 1)
    unread = np.zeros(at.size, bool)
    for word in range(span):
        input_pixel, beside = np.divmod(at + word - layer.in_offset // _WORD, layer.in_skip + 1)
        inside = (beside == 0) & (input_pixel >= 0) & (input_pixel < pixels.size)
        unread[inside] |= np.flatnonzero(inside) <= last[input_pixel[inside]]
    return unread


# -- what lies where -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Written:
    """How one producer wrote."""

    mask: int
    channels: int

    def place(self, channel: int) -> tuple[int, int]:
        """Pass and processor of a channel."""
        share = self.mask.bit_count()
        return channel // share, sets.used(self.mask)[channel % share]


class _Run:
    def __init__(self, network: Network) -> None:
        self._network = network
        self._words = network.device.data_bytes // _WORD
        self._owner: NDArray[np.int64] = np.full((_MEMORIES, self._words), _NOBODY, np.int64)
        self._tag: NDArray[np.int64] = np.zeros((_MEMORIES, self._words), np.int64)
        self._written: dict[int, _Written] = {}
        self._origin: dict[int, int] = {}  # of what was passed on unchanged: whose data that is
        self._names = {INPUT: "the input", **{layer.index: layer.name for layer in network.layers}}

    def problems(self) -> list[Problem]:
        streams = streamed(self._network)
        found = list(self._streams(streams)) if streams else list(self._load())
        found += self._buffer_problems(streams)
        for layer in self._network.layers[len(streams) :]:
            found += self._layer(layer)
        return [*found, *self._results()]

    def _buffer_problems(self, streams: Sequence[Layer]) -> Iterator[Problem]:
        """The data buffer lies there from the beginning, beside the input."""
        buffer = rolling.buffer_of(self._network)
        if buffer is None:
            return
        self._written[BUFFER] = _Written(buffer.processors, buffer.channels)
        self._names[BUFFER] = "the data buffer"
        at = buffer.offset + np.arange(rolling.pixels_of(buffer)) * _WORD
        first = self._network.layers[0]
        inside = (at // _WORD)[at // _WORD < self._words]
        memories = sets.memories(buffer.processors)
        if not streams and any((self._owner[memory, inside] != _NOBODY).any() for memory in memories):
            what, rule = "the input overlaps the data buffer", "both are there before the first layer"
            yield _problem(self._network, first, what, rule, "choose another `in_offset`")
        yield from self._write(first, BUFFER, buffer.processors, at)

    # -- reading and writing --
    def _load(self) -> Iterator[Problem]:
        """The input, as the first layer that reads it wants it."""
        network = self._network
        reader = next((layer for layer in network.layers if INPUT in layer.sources), None)
        if reader is None:
            return
        place = reader.sources.index(INPUT)
        offset, mask = reader.in_offset, reader.processors
        pixels = math.prod(network.input_size)
        if reader.big_data:
            self._written[INPUT] = _Written(mask, network.input_channels)
            yield from self._write(reader, INPUT, mask, offset + np.arange(-(-pixels // 4)) * _WORD)
            return
        split = reader.operands if len(reader.sources) == 1 else 1
        if len(reader.sources) > 1:
            mask, offset = self._share_of_input(reader, place)
        gap = reader.operands if split == 1 and reader.operands > 1 else 1
        count = pixels * sets.passes(network.input_channels // split) * split
        self._written[INPUT] = _Written(mask, network.input_channels // split)
        yield from self._write(reader, INPUT, mask, offset + np.arange(count) * gap * _WORD)

    def _share_of_input(self, reader: Layer, place: int) -> tuple[int, int]:
        """Where the input lies when it is one of several that a layer reads."""
        if reader.operands > 1:
            return reader.processors, reader.in_offset + place * _WORD
        taken = sum(self._channels(source) for source in reader.sources[:place])
        used = sets.used(reader.processors)[taken : taken + self._network.input_channels]
        return sum(1 << one for one in used), reader.in_offset

    def _channels(self, source: int) -> int:
        if source == INPUT:
            return self._network.input_channels
        return next(layer.out_channels for layer in self._network.layers if layer.index == source)

    def _write(
        self, layer: Layer, producer: int, mask: int, addresses: NDArray[np.int64], width: int = 8, tag: int = 0
    ) -> Iterator[Problem]:
        at = addresses // _WORD
        extra = (0,) if width == 8 else (0, 1, 2, 3)
        if at.size and int(at.max()) + extra[-1] >= self._words:
            over = (int(at.max()) + extra[-1] + 1 - self._words) * _WORD
            name, begin = self._names[producer], int(addresses.min())
            yield _problem(
                self._network,
                layer,
                f"what {name} puts at 0x{begin:04x} ends {over} bytes after the end of the memory",
                f"each data memory holds {self._words * _WORD} bytes",
                "choose a lower offset, or less data",
            )
            return
        for memory in sets.memories(mask):
            for word in extra:
                self._owner[memory, at + word] = self._made_by(producer)
                self._tag[memory, at + word] = tag + np.arange(at.size)

    def _layer(self, layer: Layer) -> Iterator[Problem]:
        reads = {memory: np.zeros(self._words, bool) for memory in sets.memories(layer.processors)}
        wrong = list(self._read(layer, reads))
        yield from wrong[:1]
        count = math.prod(layer.out_size) * sets.passes(layer.out_channels)
        step = (layer.write_gap + 1) * (layer.output_width // 8)
        addresses = layer.out_offset + np.arange(count) * step * _WORD
        if rolling.SHIFT not in layer.hints:  # which reads each pixel before it writes there
            yield from self._over_what_it_reads(layer, reads, addresses // _WORD)
        self._written[layer.index] = _Written(layer.output_processors, layer.out_channels)
        if _passes_on(layer) and not rolling.writes(layer):
            self._origin[layer.index] = self._made_by(layer.sources[0])
        buffer = rolling.buffer_of(self._network)
        if rolling.writes(layer) and buffer is not None:
            tag = rolling.first_written(buffer, layer)
            yield from self._write(layer, BUFFER, layer.output_processors, addresses, tag=tag)
            return
        yield from self._write(layer, layer.index, layer.output_processors, addresses, layer.output_width)

    def _made_by(self, source: int) -> int:
        """Who made the data of a source: a copy is as good as what it was copied from, wherever that still lies."""
        return self._origin.get(source, source)

    def _over_what_it_reads(
        self, layer: Layer, reads: dict[int, NDArray[np.bool_]], at: NDArray[np.int64]
    ) -> Iterator[Problem]:
        span = layer.output_width // 8
        inside = at[at + span <= self._words]
        inside = inside[_may_be_unread(layer, inside, span)]
        for memory in sets.memories(layer.output_processors):
            if memory in reads and any(reads[memory][inside + word].any() for word in range(span)):
                yield _problem(
                    self._network,
                    layer,
                    f"it writes from 0x{layer.out_offset:04x} on over what it reads from 0x{layer.in_offset:04x} on",
                    "a layer does not overwrite what it has not read yet",
                    "choose another `out_offset`, or other processors; "
                    "`overlap_data` (--cnn overlap-data) builds it as it is",
                )
                return

    def _read(self, layer: Layer, reads: dict[int, NDArray[np.bool_]]) -> Iterator[Problem]:
        """What the layer finds instead of what it should read."""
        if layer.big_data:
            at = layer.in_offset // _WORD + np.arange(-(-math.prod(self._network.input_size) // 4))
            for memory in sets.memories(layer.processors):
                yield from self._compare(layer, INPUT, memory, at, np.arange(at.size), reads)
            return
        alone = layer.operands == 1 or len(layer.sources) == 1
        groups = [layer.sources] if alone else [(source,) for source in layer.sources]
        for operand, sources in enumerate(groups):
            yield from self._operand(layer, operand, sources, reads)

    def _operand(
        self, layer: Layer, operand: int, sources: Sequence[int], reads: dict[int, NDArray[np.bool_]]
    ) -> Iterator[Problem]:
        if any(source not in self._written for source in sources):
            yield _problem(
                self._network, layer, "it reads data that no preceding layer wrote", "layers run in their order"
            )
            return
        share, rounds = layer.processors.bit_count(), sets.passes(layer.in_channels)
        used = sets.used(layer.processors)
        channels = [(source, one) for source in sources for one in range(self._written[source].channels)]
        split = layer.operands if len(layer.sources) == 1 else 1
        buffer = rolling.buffer_of(self._network)
        whole = sources[0] != BUFFER or buffer is None
        pixels = self._pixels(sources[0]) if whole else math.prod(layer.in_size)
        begin = 0 if whole or buffer is None else rolling.first_read(buffer, layer)
        seen: set[tuple[int, int]] = set()
        for number, (source, channel) in enumerate(channels[: layer.in_channels]):
            turn, processor = number // share, used[number % share]
            source_pass, source_processor = self._written[source].place(channel)
            if source_processor != processor:
                yield _problem(
                    self._network,
                    layer,
                    f"channel {channel} of {self._names[source]} is at processor {source_processor}, and processor "
                    f"{processor} reads it",
                    "channels are read in the order of the processors",
                    "give both layers the same processors",
                )
                return
            memory = processor // PROCESSORS_PER_MEMORY
            if (memory, turn) in seen:
                continue
            seen.add((memory, turn))
            stride = layer.operands * (layer.in_skip + 1)
            source_rounds = sets.passes(self._written[source].channels)
            for part in range(split):
                at = layer.in_offset // _WORD + (np.arange(pixels) * rounds + turn) * stride + operand + part
                tags = ((begin + np.arange(pixels)) * source_rounds + source_pass) * split + part
                yield from self._compare(layer, source, memory, at, tags, reads)

    def _compare(
        self,
        layer: Layer,
        source: int,
        memory: int,
        at: NDArray[np.int64],
        tags: NDArray[np.int64],
        reads: dict[int, NDArray[np.bool_]],
    ) -> Iterator[Problem]:
        if at.size and int(at.max()) >= self._words:
            yield _problem(self._network, layer, "it reads beyond the end of the memory", f"{self._words} words")
            return
        reads[memory][at] = True
        owners = self._owner[memory, at]
        source = self._made_by(source)
        wrong = np.flatnonzero((owners != source) | (self._tag[memory, at] != tags))
        if wrong.size:
            owner = int(owners[wrong[0]])
            found = "nothing" if owner == _NOBODY else f"another part of {self._names[owner]}"
            found = f"what {self._names[owner]} wrote" if owner not in (_NOBODY, source) else found
            yield _problem(
                self._network,
                layer,
                f"at 0x{int(at[wrong[0]]) * _WORD:04x} of memory {memory} it finds {found}, not {self._names[source]}",
                "a layer reads from where the layers before it wrote, and no other layer writes there in between",
                "choose another offset, or other processors, for one of the two",
            )

    def _pixels(self, source: int) -> int:
        if source == INPUT:
            return math.prod(self._network.input_size)
        return next(math.prod(layer.out_size) for layer in self._network.layers if layer.index == source)

    def _results(self) -> Iterator[Problem]:
        """What is put out, and the data buffer, are still there at the end."""
        buffer = rolling.buffer_of(self._network)
        if buffer is not None and BUFFER in self._written:
            at = buffer.offset // _WORD + np.arange(rolling.pixels_of(buffer))
            at = at[at < self._words]
            if any((self._owner[memory, at] != BUFFER).any() for memory in sets.memories(buffer.processors)):
                last = self._network.layers[-1]
                what, rule = "a layer writes over the data buffer", "the next run continues with it"
                yield _problem(self._network, last, what, rule, "choose another `out_offset`")
        for layer in self._network.layers:
            is_last = layer is self._network.layers[-1] or layer.next_layer == STOP
            if not (is_last or layer.is_output) or layer.index not in self._written:
                continue
            count = math.prod(layer.out_size) * sets.passes(layer.out_channels)
            step = (layer.write_gap + 1) * (layer.output_width // 8)
            at = layer.out_offset // _WORD + np.arange(count) * step
            for memory in sets.memories(layer.output_processors):
                if at.max() < self._words and (self._owner[memory, at] != self._made_by(layer.index)).any():
                    yield _problem(
                        self._network,
                        layer,
                        "a later layer overwrites its output",
                        "outputs stay until they are read",
                        "choose another `out_offset`",
                    )
                    break

    # -- streams --
    def _streams(self, streams: Sequence[Layer]) -> Iterator[Problem]:
        """Rings, and what the last of these layers writes, lie apart all the time."""
        rings = [
            (layer, set(sets.memories(layer.processors)), layer.in_offset, ring_words(self._network, layer) * _WORD)
            for layer in streams
        ]
        last = streams[-1]
        size = math.prod(last.out_size) * sets.passes(last.out_channels) * (last.output_width // 8) * _WORD
        rings.append((last, set(sets.memories(last.output_processors)), last.out_offset, size))
        limit = self._words * _WORD
        for number, (layer, memories, begin, length) in enumerate(rings):
            if begin + length > limit:
                yield _problem(self._network, layer, f"its data ends at 0x{begin + length:04x}", f"0x{limit:04x} bytes")
            for other, others, start, extent in rings[:number]:
                if memories & others and begin < start + extent and start < begin + length:
                    yield _problem(
                        self._network,
                        layer,
                        f"its data at 0x{begin:04x} overlaps that of layer {other.index} at 0x{start:04x}",
                        "layers that are streamed run at the same time",
                        "choose another offset",
                    )
        for layer, following in pairwise(streams):
            if (layer.out_offset, layer.output_processors) != (following.in_offset, following.processors):
                yield _problem(self._network, following, "it does not read where the preceding layer writes", "streams")
        count = math.prod(last.out_size) * sets.passes(last.out_channels)
        addresses = last.out_offset + np.arange(count) * (last.output_width // 8) * _WORD
        self._written[last.index] = _Written(last.output_processors, last.out_channels)
        yield from self._write(last, last.index, last.output_processors, addresses, last.output_width)
