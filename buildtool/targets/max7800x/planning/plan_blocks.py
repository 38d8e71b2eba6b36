"""What has to lie together: data side by side that a layer reads as one, and operands word by word.

A `Piece` is what one layer puts out (or the input), a `Block` the pieces that get one offset. Where layers want the
same data in two ways, a copy is made for one of them: `with_copies` puts a layer in between that does nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY
from buildtool.targets.max7800x.firmware.streaming import ring_words, streamed
from buildtool.targets.max7800x.network import INPUT, STOP, UNPLACED, Kernel, Layer, Network
from buildtool.targets.max7800x.planning import plan_sizes as sizes
from buildtool.targets.max7800x.planning.plan_splits import Slot, slots
from buildtool.targets.max7800x.processors import per_pass, used

_COPIED = " copied for "
_ONE = 64  # with a shift of one, the weight that gives back what comes in


@dataclass(eq=False)
class Piece:
    """The data of one producer; `first` and `last` are positions of layers between which it is there."""

    producer: int  # index of a layer, or INPUT
    name: str
    channels: int
    words: int  # in each memory, without what is between them
    first: int
    last: int
    planar: bool = False
    mask: int = 0  # of processors; 0: to be chosen

    @property
    def processors(self) -> int:
        return self.channels if self.planar else per_pass(self.channels)


@dataclass(eq=False)
class Block:
    """Pieces with one offset: behind each other along the processors, or, `interleaved`, word by word.

    Interleaved pieces may be those of several passes: `slots` says which, and where they begin.
    """

    pieces: list[Piece]
    interleaved: bool = False
    slots: list[Slot] = field(default_factory=list)
    offset: int = UNPLACED  # of the first piece
    fixed: bool = False  # whether somebody wrote the offset

    @property
    def gap(self) -> int:
        if self.slots:
            return max(slot.turn for slot in self.slots)
        return len(self.pieces) - 1 if self.interleaved else 0

    @property
    def producers(self) -> tuple[int, ...]:
        return tuple(piece.producer for piece in self.pieces)

    def offset_of(self, producer: int) -> int:
        place = self.producers.index(producer)
        turn = self.slots[place].turn if self.slots else place
        return self.offset + (turn * sizes.WORD if self.interleaved else 0)


@dataclass
class _Reads:
    """Who reads what, and how."""

    alone: set[int] = field(default_factory=set)  # producers that a layer reads by themselves
    parts: dict[tuple[int, ...], Layer] = field(default_factory=dict)  # side by side
    operands: dict[tuple[int, ...], Layer] = field(default_factory=dict)  # word by word


def with_copies(network: Network) -> Network:
    """The network, with a copy wherever data is wanted in two arrangements. UnsupportedError where that is no help."""
    while True:
        copied = _copied(network)
        if copied is None:
            return network
        network = _inserted(network, *copied)


def blocks_of(network: Network) -> list[Block]:
    """All data of a network that `with_copies` gave."""
    pieces = _pieces(network)
    reads = _reads(network)
    found: list[Block] = []
    taken: set[int] = set()
    for sources in reads.operands:
        found.append(Block([pieces[source] for source in sources], interleaved=True))
        taken.update(sources)
    for sources in sorted(reads.parts, key=len, reverse=True):
        if not set(sources) & taken:
            found.append(Block([pieces[source] for source in sources]))
            if _channels(network, sources) > PROCESSORS:
                found[-1].interleaved = True
                found[-1].slots = slots([sizes.channels_of(network, source) for source in sources])
            taken.update(sources)
    found += [Block([piece]) for producer, piece in pieces.items() if producer not in taken]
    _take_written(network, found)
    return found


def _pieces(network: Network) -> dict[int, Piece]:
    """By producer, in the order of time."""
    at = {layer.index: position for position, layer in enumerate(network.layers)}
    last: dict[int, int] = {INPUT: 0, **at}
    for position, layer in enumerate(network.layers):
        for source in layer.sources:
            last[source] = max(last[source], position)
    end = len(network.layers)
    streams = streamed(network)
    readers = {layer.sources[0]: layer for layer in streams}
    pieces: dict[int, Piece] = {}
    for producer in (INPUT, *at):
        planar = producer == INPUT and any(layer.big_data for layer in network.layers)
        made_by = None if producer == INPUT else network.layers[at[producer]]
        is_result = made_by is not None and (
            made_by.is_output or producer == network.layers[-1].index or made_by.next_layer == STOP
        )
        first = -1 if producer == INPUT else at[producer]
        words = ring_words(network, readers[producer]) if producer in readers else _words(network, producer, planar)
        if producer in readers or (made_by is not None and made_by.streaming):
            first, last[producer] = -1, max(last[producer], len(streams) - 1)
        name = "the input" if made_by is None else _called(made_by)
        channels = sizes.channels_of(network, producer)
        pieces[producer] = Piece(producer, name, channels, words, first, end if is_result else last[producer], planar)
    return pieces


def _words(network: Network, producer: int, planar: bool) -> int:
    if producer != INPUT:
        layer = next(layer for layer in network.layers if layer.index == producer)
        return sizes.words(layer.out_channels, math.prod(layer.out_size), layer.output_width)
    pixels = math.prod(network.input_size)
    if planar:
        return sizes.planar_words(pixels)
    split = sizes.split_input(network)
    return sizes.words(sizes.channels_of(network, INPUT), pixels) * (split.operands if split is not None else 1)


def _channels(network: Network, sources: Iterable[int]) -> int:
    return sum(sizes.channels_of(network, source) for source in sources)


def _reads(network: Network) -> _Reads:
    reads = _Reads()
    for layer in network.layers:
        if len(layer.sources) == 1:
            reads.alone.add(layer.sources[0])
        elif layer.operands == 1:
            reads.parts.setdefault(layer.sources, layer)
        else:
            reads.operands.setdefault(layer.sources, layer)
    return reads


# -- copies ------------------------------------------------------------------------------------------------------------
def _copied(network: Network) -> tuple[Layer, int] | None:
    """A reader and the place among its sources where a copy has to stand; None where nothing has to be copied."""
    refuse(network)
    reads = _reads(network)
    arranged: dict[int, tuple[int, ...]] = {}  # how each producer lies
    for sources, layer in (*reads.operands.items(), *sorted(reads.parts.items(), key=lambda one: -len(one[0]))):
        interleaved = layer.operands > 1 or _channels(network, sources) > PROCESSORS
        together = {arranged.get(source) for source in sources}
        whole = together.pop() if len(together) == 1 else None
        if whole is not None and not interleaved and _is_part(sources, whole) and whole not in reads.operands:
            continue
        for place, source in enumerate(sources):
            twice = source in sources[:place]
            if twice or source in arranged or (interleaved and source in reads.alone):
                return layer, place
        arranged.update(dict.fromkeys(sources, sources))
    return None


def _is_part(some: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether the numbers come in the other sequence in the same order."""
    rest = iter(whole)
    return all(one in rest for one in some)


def refuse(network: Network) -> None:
    """UnsupportedError lists the layers whose sources cannot lie as they have to."""
    problems = [problem for layer in network.layers for problem in _unarrangeable(network, layer)]
    if problems:
        raise UnsupportedError(problems)


def _unarrangeable(network: Network, layer: Layer) -> Iterator[Problem]:
    place = where(network, layer)
    if layer.operands > 1 and len(layer.sources) not in (1, layer.operands):
        yield Problem(
            f"layer {layer.index}: {layer.operands} operands come from {len(layer.sources)} layers",
            place,
            "each operand is the output of one layer",
            "join the parts of an operand in a separate layer",
        )
    if layer.operands > 1 and len(layer.sources) == 1 and layer.sources != (INPUT,):
        yield Problem(
            f"layer {layer.index}: layer {layer.sources[0]} outputs all operands at once",
            place,
            "operands are interleaved by words, but a layer writes channels next to each other",
            "compute each operand in a separate layer",
        )
    channels = [sizes.channels_of(network, source) for source in layer.sources]
    if layer.operands > 1 or len(channels) == 1:
        return
    whole = sum(-(-part // PROCESSORS_PER_MEMORY) * PROCESSORS_PER_MEMORY for part in channels[:-1]) + channels[-1]
    if sum(channels) <= PROCESSORS < whole:
        yield Problem(
            f"layer {layer.index}: it joins {' + '.join(map(str, channels))} channels, which take {whole} processors",
            place,
            f"there are {PROCESSORS}, and each part begins with the {PROCESSORS_PER_MEMORY} that share a memory",
            f"let all parts but the last have a multiple of {PROCESSORS_PER_MEMORY} channels",
        )
    if sum(channels) > PROCESSORS and any(slot.start % PROCESSORS_PER_MEMORY for slot in slots(channels)):
        yield Problem(
            f"layer {layer.index}: it joins {' + '.join(map(str, channels))} = {sum(channels)} channels",
            place,
            f"more than {PROCESSORS} are read in passes, and each part begins with the {PROCESSORS_PER_MEMORY} "
            "processors that share a memory",
            f"let all parts but the last have a multiple of {PROCESSORS_PER_MEMORY} channels",
        )


def _inserted(network: Network, reader: Layer, place: int) -> Network:
    """The network with a copy of one source in front of its reader; layers behind it get new numbers."""
    at = network.layers.index(reader)
    renumbered = {layer.index: position + (position >= at) for position, layer in enumerate(network.layers)}
    renumbered[INPUT] = INPUT
    layers = [_renumbered(layer, renumbered) for layer in network.layers]
    copy = copy_of(network, reader, reader.sources[place], at)
    sources = list(layers[at].sources)
    copy = replace(copy, sources=(sources[place],))
    sources[place] = copy.index
    layers[at] = replace(layers[at], sources=tuple(sources))
    layers.insert(at, copy)
    return replace(network, layers=tuple(layers))


def _renumbered(layer: Layer, numbers: Mapping[int, int]) -> Layer:
    following = layer.next_layer
    return replace(
        layer,
        index=numbers[layer.index],
        sources=tuple(numbers[source] for source in layer.sources),
        next_layer=following if following is None or following == STOP else numbers[following],
    )


def copy_of(network: Network, reader: Layer, source: int, index: int) -> Layer:
    """A layer that does nothing but write what it reads to another place."""
    made = next((layer for layer in network.layers if layer.index == source), None)
    size = network.input_size if made is None else made.out_size
    channels = sizes.channels_of(network, source)
    plain = Layer(
        index=index,
        name=f"{'input' if made is None else _called(made)}{_COPIED}{_called(reader)}",
        operation="none",
        sources=(source,),
        in_channels=channels,
        in_size=size,
        processors=0,
        in_offset=UNPLACED,
        big_data=made is None and any(layer.big_data for layer in network.layers),
        out_channels=channels,
        out_size=size,
        out_offset=UNPLACED,
        source=reader.source,
    )
    return plain if reader.operands > 1 and not plain.big_data else by_kernel(plain)


def is_copy(layer: Layer) -> bool:
    """Whether the planner put it in."""
    return _COPIED in layer.name


def _called(layer: Layer) -> str:
    return layer.name or f"layer {layer.index}"


def by_kernel(layer: Layer) -> Layer:
    """A layer that passes data through, as an identity convolution: it writes anywhere."""
    weights = np.zeros((layer.out_channels, layer.out_channels, 1, 1), np.int8)
    weights[np.arange(layer.out_channels), np.arange(layer.out_channels)] = _ONE
    one = Kernel(weights, size=(1, 1), pad=(0, 0))
    return replace(layer, operation="conv2d", kernel=one, output_shift=1, output_processors=0)


def as_dense(layer: Layer) -> Layer:
    """A depthwise layer as a convolution of all channels, with zeros where they do not meet: it writes anywhere."""
    kernel = layer.kernel
    assert kernel is not None
    count = len(kernel.weights)
    weights = np.zeros((count, layer.in_channels, *kernel.weights.shape[2:]), np.int8)
    share, out = kernel.weights.shape[1], count // kernel.groups
    for number in range(count):
        first = number // out * share
        weights[number, first : first + share] = kernel.weights[number]
    return replace(layer, kernel=replace(kernel, weights=weights, groups=1))


# -- what was written --------------------------------------------------------------------------------------------------
def _take_written(network: Network, blocks: Sequence[Block]) -> None:
    """Places that somebody wrote are kept."""
    of = {piece.producer: (block, piece) for block in blocks for piece in block.pieces}
    for layer in network.layers:
        block, piece = of[layer.index]
        piece.mask = piece.mask or layer.output_processors
        _fix(network, layer, block, layer.out_offset, layer.index)
        for source, mask in zip(layer.sources, _shares(network, layer), strict=True):
            of[source][1].mask = of[source][1].mask or mask
        _fix(network, layer, of[layer.sources[0]][0], layer.in_offset, layer.sources[0])


def _shares(network: Network, layer: Layer) -> Iterator[int]:
    """Of the processors that a layer says it reads with, those for each of its sources; 0 where that is not clear."""
    rest = used(layer.processors)
    for source in layer.sources:
        count = per_pass(sizes.channels_of(network, source))
        if layer.operands > 1 or len(layer.sources) == 1:
            yield layer.processors if len(rest) == count or layer.big_data else 0
        else:
            share, rest = rest[:count], rest[count:]
            yield sum(1 << one for one in share) if len(share) == count else 0


def _fix(network: Network, layer: Layer, block: Block, offset: int, producer: int) -> None:
    if offset == UNPLACED:
        return
    wanted = offset - (block.offset_of(producer) - block.offset)
    if block.fixed and wanted != block.offset:
        raise UnsupportedError(
            f"layer {layer.index} has its data at 0x{offset:04x}, and it lies at 0x{block.offset_of(producer):04x}",
            where=where(network, layer),
            rule="a layer reads from where the layers before it write",
            remedy="write the same offset at both layers, or at neither",
        )
    block.offset, block.fixed = wanted, True


def where(network: Network, layer: Layer) -> Where:
    """The place of a layer, for messages."""
    source = layer.source
    return Where(source.file or network.file, source.line, model=network.name, node=source.node or layer.name)
