"""Joins of more channels than there are processors: they are read in passes, and no part may lie in two of them.

A layer whose channels would, is split in two that make some of them each; where others want its channels together, too,
layers behind it pick them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from buildtool.targets.max7800x.network import INPUT, STOP, UNPLACED, Kernel, Layer, Network
from buildtool.targets.max7800x.planning import plan_sizes as sizes
from buildtool.targets.max7800x.processors import passes, per_pass

_ONE = 64  # with a shift of one, the weight that gives back what comes in


@dataclass(frozen=True)
class Slot:
    """Where a part of a join lies: in which pass, and how far behind the first processor."""

    turn: int
    start: int


def slots(channels: Sequence[int]) -> list[Slot]:
    """Of parts with so many channels, as long as none lies in two passes."""
    share = per_pass(sum(channels))
    begins = [sum(channels[:place]) for place in range(len(channels))]
    return [Slot(begin // share, begin % share) for begin in begins]


def fits(channels: Sequence[int]) -> bool:
    """Whether each part lies in one pass."""
    share = per_pass(sum(channels))
    return all(slot.start + count <= share for slot, count in zip(slots(channels), channels, strict=True))


def with_splits(network: Network) -> Network:
    """The network with every such layer split."""
    while True:
        found = _straddling(network)
        if found is None:
            return network
        network = _split(network, *found)


def _straddling(network: Network) -> tuple[Layer, int, list[int]] | None:
    """A layer that joins, the place of a source that lies in two passes, and where that is cut."""
    for layer in network.layers:
        channels = [sizes.channels_of(network, source) for source in layer.sources]
        if layer.operands > 1 or len(channels) == 1 or passes(sum(channels)) == 1 or fits(channels):
            continue
        share = per_pass(sum(channels))
        for place, count in enumerate(channels):
            begin = sum(channels[:place])
            first = (begin // share + 1) * share - begin
            cuts = list(range(first, count, share))
            if cuts:
                return layer, place, [0, *cuts, count]
    return None


def _split(network: Network, reader: Layer, place: int, cuts: list[int]) -> Network:
    source = reader.sources[place]
    made = next((layer for layer in network.layers if layer.index == source), None)
    ranges = list(pairwise(cuts))
    if made is not None and _can_be_split(network, made, reader):
        parts = [_part(made, first, last) for first, last in ranges]
        return _spliced(network, made, parts, (reader, place), removes=True)
    parts = [_picked(network, reader, source, first, last) for first, last in ranges]
    return _spliced(network, reader, parts, (reader, place), removes=False)


def _can_be_split(network: Network, made: Layer, reader: Layer) -> bool:
    readers = [layer for layer in network.layers for source in layer.sources if source == made.index]
    plain = not made.is_output and not made.streaming and made.next_layer is None and made.output_width == 8
    free = not made.output_processors and made.out_offset == UNPLACED
    return plain and free and readers == [reader] and made.kernel is not None and made.kernel.groups == 1


def _part(made: Layer, first: int, last: int) -> Layer:
    """Some of the channels that a layer makes."""
    kernel = made.kernel
    assert kernel is not None
    bias = None if kernel.bias is None else kernel.bias[first:last]
    return replace(
        made,
        name=f"{made.name}, channels {first} to {last - 1}",
        kernel=replace(kernel, weights=kernel.weights[first:last], bias=bias),
        out_channels=last - first,
    )


def _picked(network: Network, reader: Layer, source: int, first: int, last: int) -> Layer:
    """Some of the channels of what is there."""
    made = next((layer for layer in network.layers if layer.index == source), None)
    size = network.input_size if made is None else made.out_size
    channels = sizes.channels_of(network, source)
    weights = np.zeros((last - first, channels, 1, 1), np.int8)
    weights[np.arange(last - first), np.arange(first, last)] = _ONE
    return Layer(
        index=0,
        name=f"{'input' if made is None else made.name} copied for {reader.name}, channels {first} to {last - 1}",
        operation="conv2d",
        sources=(source,),
        in_channels=channels,
        in_size=size,
        processors=0,
        in_offset=UNPLACED,
        kernel=Kernel(weights, size=(1, 1), pad=(0, 0)),
        output_shift=1,
        out_channels=last - first,
        out_size=size,
        out_offset=UNPLACED,
        source=reader.source,
    )


def _spliced(network: Network, at: Layer, parts: Sequence[Layer], into: tuple[Layer, int], *, removes: bool) -> Network:
    """The parts in front of a layer, or in its stead; a reader has them in the place of one source."""
    position = network.layers.index(at)
    kept = position + 1 if removes else position
    old = [*network.layers[:position], *parts, *network.layers[kept:]]
    numbers = {INPUT: INPUT}
    for number, layer in enumerate(old):
        if not any(layer is part for part in parts):
            numbers[layer.index] = number
    reader, place = into
    made = tuple(range(position, position + len(parts)))
    layers = []
    for number, layer in enumerate(old):
        sources = [(numbers[source],) if source in numbers else made for source in layer.sources]
        if layer is reader:
            sources[place] = made
        following = layer.next_layer
        following = following if following is None or following == STOP else numbers[following]
        joined = tuple(one for group in sources for one in group)
        layers.append(replace(layer, index=number, sources=joined, next_layer=following))
    return replace(network, layers=tuple(layers))
