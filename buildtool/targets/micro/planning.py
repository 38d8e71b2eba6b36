"""Places tensors and work memory in one arena.

An output may overlap the last input of its layer as far as the kernel has read that input: `Overlap`. Places are
searched greedily in several orders, and the smallest arena wins; all choices are deterministic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buildtool.targets.micro import network as nets
from buildtool.targets.micro.network import Layer, Network, Tensor
from buildtool.targets.micro.packing import rounded, scratch, vector_channels

ALIGNMENT = 4
_BEHIND = 16  # bytes behind the last tensor that kernels may read, and ignore
_PLACES = {"portable": 2, "dsp": 4, "mve": 4}  # of an output that a convolution computes at a time
_TRIES = 300


@dataclass(frozen=True)
class Block:
    """Memory that is used from one step to another, both included."""

    name: str
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Overlap:
    """An output may begin `lag` bytes in front of an input, or further in front; `exact`: only there."""

    lag: int
    exact: bool = False


@dataclass(frozen=True)
class Plan:
    """Where everything is."""

    offsets: Mapping[Tensor, int]  # of tensors that have memory of their own
    scratch: Mapping[Layer, int]
    size: int
    timeline: tuple[tuple[str, int], ...] = field(default=())  # by layer: bytes from the first to the last in use

    def offset(self, network: Network, tensor: Tensor) -> int:
        """Where a tensor or a part of one begins."""
        return self.offsets[network.storage(tensor)] + network.start(tensor)


def plan(network: Network, kernel_set: str, tries: int = _TRIES) -> Plan:
    """The smallest arena that was found."""
    blocks, owners = _blocks(network, kernel_set)
    overlaps = _overlaps(network, kernel_set, {owner: index for index, owner in enumerate(owners)})
    best: list[int] | None = None
    for order in _orders(blocks, tries):
        found = _placed(blocks, overlaps, order)
        if best is None or _size(blocks, found) < _size(blocks, best):
            best = found
    offsets = best or []
    start = min(offsets, default=0)
    offsets = [offset - start for offset in offsets]
    tensors = {owner: at for owner, at in zip(owners, offsets, strict=True) if isinstance(owner, Tensor)}
    works = {owner: at for owner, at in zip(owners, offsets, strict=True) if isinstance(owner, Layer)}
    for twin, one in network.banding.twins.items():
        if isinstance(twin, Tensor) and isinstance(one, Tensor) and one in tensors:
            tensors[twin] = tensors[one]
        elif isinstance(twin, Layer) and isinstance(one, Layer) and one in works:
            works[twin] = works[one]
    size = rounded(_size(blocks, offsets) + _BEHIND, alignment_of(network))
    return Plan(tensors, works, size, tuple(_timeline(network, blocks, offsets)))


def alignment_of(network: Network) -> int:
    """Of all places: elements of eight bytes need more than the others."""
    tensors = [each for layer in network.layers for each in (*layer.inputs, layer.output)]
    wide = any(np.dtype(each.dtype).itemsize == 8 for each in (*network.inputs, *tensors))
    wide = wide or any(isinstance(layer, nets.Defined) and layer.function.wide for layer in network.layers)
    return 2 * ALIGNMENT if wide else ALIGNMENT


def _timeline(network: Network, blocks: Sequence[Block], offsets: Sequence[int]) -> Iterator[tuple[str, int]]:
    found: dict[Layer, int] = {}
    for step, layer in enumerate(network.layers):
        twin = network.banding.twins.get(layer)
        if isinstance(twin, Layer):
            found[layer] = found[twin]
        else:
            used = [(at, at + block.size) for block, at in zip(blocks, offsets, strict=True) if _lives(block, step)]
            found[layer] = max(end for _, end in used) - min(start for start, _ in used)
        yield layer.name, found[layer]


def _lives(block: Block, step: int) -> bool:
    return block.first <= step <= block.last


def _blocks(network: Network, kernel_set: str) -> tuple[list[Block], list[Tensor | Layer]]:
    """Inputs are there from the start, outputs until the end. What has a twin has no block of its own."""
    twins = network.banding.twins
    spans: dict[Tensor, list[int]] = {network.storage(tensor): [0, 0] for tensor in network.inputs}
    for step, layer in enumerate(network.layers):
        for tensor in (*layer.inputs, layer.output):
            if (owner := network.storage(tensor)) not in twins:
                spans.setdefault(owner, [step, step])[1] = step
    for tensor in network.outputs:
        spans[network.storage(tensor)][1] = len(network.layers)
    owners: list[Tensor | Layer] = list(spans)
    alignment = alignment_of(network)
    blocks = [Block(tensor.name, rounded(tensor.bytes, alignment), *span) for tensor, span in spans.items()]
    for step, layer in enumerate(network.layers):
        if layer not in twins and (size := scratch(layer, kernel_set)):
            owners.append(layer)
            blocks.append(Block(f"{layer.name} (work)", rounded(size, alignment), step, step))
    return blocks, owners


def _overlaps(network: Network, kernel_set: str, index: Mapping[Tensor | Layer, int]) -> dict[tuple[int, int], Overlap]:
    """By output and input."""
    banding = network.banding
    last: dict[Tensor, int] = {network.storage(tensor): len(network.layers) for tensor in network.outputs}
    for step, layer in reversed(list(enumerate(network.layers))):
        for tensor in layer.inputs:
            last.setdefault(network.storage(tensor), step)
    found = {
        (index[output], index[source]): Overlap(lag)
        for (output, source), lag in banding.lags.items()
        if last[source] < len(network.layers)
    }
    for step, layer in enumerate(network.layers):
        if layer in banding.twins or layer.output in network.aliases:
            continue
        for tensor in layer.inputs:
            source = network.storage(tensor)
            whole = not any(each in banding.starts for each in (tensor, source))
            if whole and last[source] == step and (allowed := overlap(layer, tensor, kernel_set)) is not None:
                lag = rounded(allowed.lag, alignment_of(network))
                found[index[layer.output], index[source]] = replace(allowed, lag=lag)
    return found


def overlap(layer: Layer, source: Tensor, kernel_set: str) -> Overlap | None:
    """How far the output of a layer may overlap an input that nothing else needs."""
    if isinstance(layer, nets.Depthwise) and vector_channels(layer, kernel_set):
        return Overlap(_lag(layer, 1, reads_late=True))
    if isinstance(layer, nets.Depthwise):
        return Overlap(0, exact=True) if layer.multiplicity == 1 else None
    if isinstance(layer, nets.ConvNibbles):
        return Overlap(_lag(layer, _PLACES[kernel_set], reads_late=False))
    if isinstance(layer, nets.Conv):
        direct = kernel_set == "mve" and layer.window == nets.Window((1, 1), (1, 1), (0, 0), layer.window.dilations)
        return Overlap(_lag(layer, _PLACES[kernel_set], reads_late=direct))
    if isinstance(
        layer, (nets.Add, nets.Mul, nets.Table, nets.AddShort, nets.MulShort, nets.RescaleShort, nets.CurveShort)
    ):
        return Overlap(0)
    if isinstance(layer, nets.MaxPool | nets.AveragePool):
        return Overlap(_lag(layer, 1, reads_late=True))
    if isinstance(layer, nets.Defined) and layer.function.in_place and source.elements == layer.output.elements:
        return Overlap(0) if layer.output.bytes <= source.bytes else None
    return None


def _lag(layer: nets.Conv | nets.MaxPool | nets.AveragePool, places: int, *, reads_late: bool = False) -> int:
    """Bytes by which the output has to begin in front of the input, so that nothing is written that is still read.

    A kernel reads what `places` places need, then writes these, or in turns (`reads_late`). It needs the rows of their
    windows from their first column on, and all rows of later windows.
    """
    (_, _, width, deep), (_, rows, columns, made) = layer.inputs[0].shape, layer.output.shape
    (top, left), (down, across) = layer.window.pads, layer.window.strides
    row, column = np.divmod(np.arange(rows * columns, dtype=np.int64), columns)
    first = (np.maximum(row * down - top, 0) * width + np.maximum(column * across - left, 0)) * deep
    needed = np.minimum.accumulate(first[::-1])[::-1]  # from each place on, to the end
    starts = np.arange(0, rows * columns, places)
    ends = np.minimum(starts + places, rows * columns)
    later = np.append(needed, np.iinfo(np.int64).max)[starts if reads_late else ends]
    return rounded(max(int((ends * made - later).max(initial=0)), 0), ALIGNMENT)


# -- search ------------------------------------------------------------------------------------------------------------
def _orders(blocks: Sequence[Block], tries: int) -> Iterator[list[int]]:
    """Large blocks first, then with random changes to that order."""
    everything = list(range(len(blocks)))
    yield sorted(everything, key=lambda at: -blocks[at].size)
    yield everything
    yield everything[::-1]
    source = random.Random(1)
    for _ in range(tries):
        spread = source.choice((0.2, 0.5, 1.0))
        keys = {at: -blocks[at].size * (1 + source.uniform(-spread, spread)) for at in everything}
        yield sorted(everything, key=keys.__getitem__)


def _placed(blocks: Sequence[Block], overlaps: Mapping[tuple[int, int], Overlap], order: Sequence[int]) -> list[int]:
    """Each at the place that lets the arena grow least; places may be negative."""
    offsets: dict[int, int] = {}
    low = high = 0
    for at in order:
        taken: list[tuple[int, int, tuple[int, ...]]] = []
        for other, offset in offsets.items():
            if blocks[at].first <= blocks[other].last and blocks[other].first <= blocks[at].last:
                taken.append(_forbidden(blocks, overlaps, at, other, offset))
        candidates = {low, high - blocks[at].size, *(end for _, end, _ in taken), *(start for start, _, _ in taken)}
        candidates.update(extra for _, _, allowed in taken for extra in allowed)
        size = blocks[at].size
        free = [
            (max(high, place + size) - min(low, place), abs(place), place)
            for place in candidates
            if all(place <= start or place >= end or place in allowed for start, end, allowed in taken)
        ]
        _, _, place = min(free)
        offsets[at] = place
        low, high = min(low, place), max(high, place + size)
    return [offsets[at] for at in range(len(blocks))]


def _forbidden(
    blocks: Sequence[Block], overlaps: Mapping[tuple[int, int], Overlap], at: int, other: int, offset: int
) -> tuple[int, int, tuple[int, ...]]:
    """The open interval of places that are not allowed beside a block that is placed, and exceptions from it."""
    start, end = offset - blocks[at].size, offset + blocks[other].size
    as_output, as_input = overlaps.get((at, other)), overlaps.get((other, at))
    if as_output is not None:
        return (start, end, (offset,)) if as_output.exact else (max(start, offset - as_output.lag), end, ())
    if as_input is not None:
        return (start, end, (offset,)) if as_input.exact else (start, min(end, offset + as_input.lag), ())
    return start, end, ()


def _size(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    ends = [at + block.size for block, at in zip(blocks, offsets, strict=True)]
    return max(ends, default=0) - min(offsets, default=0)
