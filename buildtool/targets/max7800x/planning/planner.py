"""Finds the places of a network: processors, offsets and write gaps, copies where data is wanted twice, and streaming.

What somebody wrote is kept. Data that lies together (see `plan_blocks`) gets processors and an offset at once; each
block goes where the kernels of its readers pile up least, and where nothing lies that is still needed. Several orders
are tried, and the first that fits is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY, QUADRANTS, Device
from buildtool.targets.max7800x.firmware.streaming import streamed
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Kernel, Layer, Network
from buildtool.targets.max7800x.planning import plan_blocks, plan_kernels, plan_streaming
from buildtool.targets.max7800x.planning import plan_sizes as sizes
from buildtool.targets.max7800x.planning.plan_blocks import Block, Piece, is_copy
from buildtool.targets.max7800x.planning.plan_kernels import NoColumnsError
from buildtool.targets.max7800x.planning.plan_splits import with_splits
from buildtool.targets.max7800x.processors import first, last

__all__ = ["is_copy", "place", "refuse_limits", "unplaced"]

_FIFO_STARTS = (0, 16, 32, 48)
_NOT_FOUND = "no offset is free"


@dataclass(frozen=True)
class _Choice:
    """A place that a block might get."""

    masks: tuple[int, ...]  # of its pieces
    offset: int
    end: int  # bytes
    level: int  # columns of kernel memory that are taken then, at most


@dataclass(frozen=True)
class _Strategy:
    """In which order blocks get places, and which place is the best."""

    order: Callable[[Block], tuple[int, ...]]
    worth: Callable[[_Choice], tuple[int, ...]]


class _NoPlaceError(Exception):
    """A block has no place; `reach` is the least number of bytes that the memories would have to have."""

    def __init__(self, block: Block, reach: int, passed: Layer | None) -> None:
        super().__init__(_NOT_FOUND)
        self.block, self.reach, self.passed = block, reach, passed


def place(network: Network) -> Network:
    """The network with all its places. UnsupportedError says which limit of the chip it exceeds, where and by how much.

    Data that does not fit is streamed, where the first layers allow it; `network.fifo` is set then.
    """
    refuse_limits(network)
    first_problem: UnsupportedError | None = None
    for variant in _variants(network):
        try:
            return _placed(plan_blocks.with_copies(with_splits(variant)))
        except NoColumnsError:
            raise  # kernels are the same in each
        except UnsupportedError as problem:
            first_problem = first_problem or problem
    assert first_problem is not None
    raise first_problem


def unplaced(network: Network) -> Network:
    """The network without its places: what `place` would have to find again."""
    layers = tuple(
        replace(
            layer,
            processors=0,
            output_processors=0,
            in_offset=UNPLACED,
            out_offset=UNPLACED,
            write_gap=0,
        )
        for layer in network.layers
    )
    return replace(network, layers=layers)


def _variants(network: Network) -> Iterator[Network]:
    """The network as it is; with its input plane by plane; with more and more layers streamed."""
    yield network
    untouched = not any(layer.streaming or layer.big_data for layer in network.layers)
    head = network.layers[0]
    alone = head.sources == (INPUT,) and not any(INPUT in layer.sources for layer in network.layers[1:])
    few = network.input_channels <= PROCESSORS // PROCESSORS_PER_MEMORY
    if untouched and not network.fifo and few and alone and not head.processors and head.operands == 1:
        yield replace(network, layers=(replace(head, big_data=True), *network.layers[1:]))
    if untouched:
        for count in range(1, plan_streaming.MOST_LAYERS + 1):
            if plan_streaming.can_stream(network, count):
                yield plan_streaming.with_streaming(network, count)


def _placed(network: Network) -> Network:
    """Places for a network in which nothing has to be copied any more."""
    while True:
        passed: Layer | None = None
        failures: list[_NoPlaceError] = []
        too_full: list[tuple[int, Network]] = []
        others: list[UnsupportedError] = []
        for strategy in _STRATEGIES:
            try:
                found = _applied(network, _Placing(network, strategy).run())
            except _NoPlaceError as failure:
                failures.append(failure)
                passed = passed or failure.passed
                continue
            missing = plan_kernels.missing(found)
            if missing:
                too_full.append((missing, found))
                continue
            try:
                plan_kernels.require_room(found)
            except UnsupportedError as problem:
                others.append(problem)
                continue
            return found
        if passed is not None and (passed.operands == 1 or passed.in_channels <= PROCESSORS):
            # What only passes data through may not leave its quadrants; a convolution may.
            freed = plan_blocks.by_kernel(passed) if passed.operation == "none" else plan_blocks.as_dense(passed)
            network = replace(network, layers=tuple(freed if one is passed else one for one in network.layers))
            continue
        if others:
            raise min(others, key=lambda problem: len(problem.problems))
        if too_full:
            plan_kernels.require_room(min(too_full, key=lambda one: one[0])[1])
        raise _no_room(network, min(failures, key=lambda failure: failure.reach))


def _no_room(network: Network, failure: _NoPlaceError) -> UnsupportedError:
    block, device = failure.block, network.device
    named = " and ".join(dict.fromkeys(piece.name for piece in block.pieces))
    layer = next((one for one in network.layers if one.index == block.pieces[0].producer), network.layers[0])
    largest = max(piece.words for piece in block.pieces) * (block.gap + 1) * sizes.WORD
    if failure.reach >= _NEVER:
        return UnsupportedError(
            f"no processors are left for the output of {named}",
            where=plan_blocks.where(network, layer),
            rule=f"{sum(piece.processors for piece in block.pieces)} of {PROCESSORS} processors have to read it, and "
            "what was written elsewhere leaves others",
            remedy="remove `processors` and `output_processors` of this layer and of those that read it",
        )
    return UnsupportedError(
        f"{named}: {largest} bytes in each data memory end {failure.reach - device.data_bytes} bytes after its end, "
        "because other data is still needed then",
        where=plan_blocks.where(network, layer),
        rule=f"each data memory of the {device.part} holds {device.data_bytes} bytes of 4 channels",
        remedy="use a smaller image, or pool earlier; layers at the beginning are streamed if they are "
        "consecutive padded convolutions",
    )


# -- one attempt -------------------------------------------------------------------------------------------------------
_NEVER = 1 << 40


class _Placing:
    def __init__(self, network: Network, strategy: _Strategy) -> None:
        self._network = network
        self._strategy = strategy
        self._blocks = plan_blocks.blocks_of(network)
        self._masks: dict[int, int] = {}
        self._busy: list[tuple[int, int, int, Piece]] = []  # memories, begin, end
        self._kernels = plan_kernels.Columns()
        self._readers: dict[int, list[Layer]] = {}
        for layer in network.layers:
            for source in layer.sources:
                self._readers.setdefault(source, []).append(layer)
        self._kernels_done: set[int] = set()

    def run(self) -> list[Block]:
        """The blocks with masks and offsets. _NoPlaceError names the one that has none."""
        fixed_first = sorted(self._blocks, key=lambda block: (not block.fixed, *self._strategy.order(block)))
        for block in fixed_first:
            self._settle(block, self._best(block))
        return self._blocks

    def _best(self, block: Block) -> _Choice:
        choices: list[_Choice] = []
        reach, passed = _NEVER, None
        for masks in self._mask_sets(block):
            wrong = self._wrongly_passed(block, masks)
            if wrong is not None:
                passed = wrong
                continue
            offset = block.offset if block.fixed else self._free_offset(block, masks)
            end = offset + self._size(block)
            reach = min(reach, end)
            if end <= self._network.device.data_bytes:
                choices.append(_Choice(masks, offset, end, self._level(block, masks)))
        if not choices:
            raise _NoPlaceError(block, reach, passed)
        return min(choices, key=lambda choice: (*self._strategy.worth(choice), first(choice.masks[0])))

    def _mask_sets(self, block: Block) -> Iterator[tuple[int, ...]]:
        """Processors for each piece, from every place where the first may begin."""
        if all(piece.mask for piece in block.pieces):
            yield tuple(piece.mask for piece in block.pieces)
            return
        if block.interleaved and not block.slots and any(piece.mask for piece in block.pieces):
            mask = next(piece.mask for piece in block.pieces if piece.mask)
            yield (mask,) * len(block.pieces)
            return
        streams = streamed(self._network)
        fed = self._network.fifo and INPUT in block.producers
        for start in _FIFO_STARTS if fed else range(0, PROCESSORS, PROCESSORS_PER_MEMORY):
            masks = _fifo_masks(block, start) if fed and streams else _masks_from(block, start)
            if masks is not None:
                yield masks
        # What a layer passes on keeps its places in each quadrant, wherever these begin.
        for layer in self._network.layers:
            if _keeps_processors(layer) and block.producers == (layer.index,):
                mask = self._read_mask(layer)
                if mask and not block.pieces[0].mask:
                    yield (mask,)

    def _wrongly_passed(self, block: Block, masks: tuple[int, ...]) -> Layer | None:
        """A layer that would have to carry data where it cannot."""
        known = {**self._masks, **dict(zip(block.producers, masks, strict=True))}
        for layer in self._network.layers:
            if not _keeps_processors(layer) or layer.index not in known:
                continue
            if not all(source in known for source in layer.sources):
                continue
            given = 0
            for source in layer.sources:
                given |= known[source]
            carries = layer.operation != "none" or sizes.can_pass(given, known[layer.index])
            if not carries or (layer.operation != "none" and given != known[layer.index]):
                return layer
        return None

    def _read_mask(self, layer: Layer) -> int:
        mask = 0
        for source in layer.sources:
            mask |= self._masks.get(source, 0)
        return mask

    def _size(self, block: Block) -> int:
        return (block.gap + 1) * max(piece.words for piece in block.pieces) * sizes.WORD

    def _free_offset(self, block: Block, masks: tuple[int, ...]) -> int:
        """The lowest at which all pieces are free of what is there at the same time."""
        size = self._size(block)
        meets: list[tuple[int, int]] = []
        for piece, mask in zip(block.pieces, masks, strict=True):
            begins, ends = _life(block) if block.interleaved else (piece.first, piece.last)
            meets += [
                (begin, end)
                for memories, begin, end, other in self._busy
                if memories & sizes.memories(mask) and other.first <= ends and begins <= other.last
            ]
        start = 0
        for begin, end in sorted(meets):
            if start + size <= begin:
                break
            start = max(start, end)
        return start

    def _level(self, block: Block, masks: tuple[int, ...]) -> int:
        """How high kernels reach when the readers have theirs; 0 where none reads it with kernels."""
        level = 0
        for producer, mask in zip(block.producers, masks, strict=True):
            for layer in self._readers.get(producer, ()):
                count = sizes.columns(layer)
                if count:
                    level = max(level, self._kernels.level(mask) + count)
        return level

    def _settle(self, block: Block, choice: _Choice) -> None:
        block.offset = choice.offset
        begins, ends = _life(block)
        for piece, mask in zip(block.pieces, choice.masks, strict=True):
            piece.mask = mask
            self._masks[piece.producer] = mask
            if block.interleaved:
                piece.first, piece.last = begins, ends
            end = choice.offset + (self._size(block) if block.interleaved else piece.words * sizes.WORD)
            self._busy.append((sizes.memories(mask), choice.offset, end, piece))
        for layer in self._network.layers:
            if layer.index not in self._kernels_done and all(source in self._masks for source in layer.sources):
                self._kernels_done.add(layer.index)
                count, mask = sizes.columns(layer), self._read_mask(layer)
                if count:
                    self._kernels.take(mask, self._kernels.start(mask, count), count)


def _keeps_processors(layer: Layer) -> bool:
    """Layers without a kernel, and depthwise ones: each channel stays where it is."""
    return layer.operation == "none" or (layer.kernel is not None and layer.kernel.groups > 1)


def _life(block: Block) -> tuple[int, int]:
    return min(piece.first for piece in block.pieces), max(piece.last for piece in block.pieces)


def _masks_from(block: Block, start: int) -> tuple[int, ...] | None:
    """Behind each other from a processor on, each from a memory on; None where there are too few."""
    masks: list[int] = []
    if block.slots:
        masks = [
            piece.mask or sizes.contiguous(start + slot.start, piece.processors)
            for piece, slot in zip(block.pieces, block.slots, strict=True)
        ]
        return None if max(masks).bit_length() > PROCESSORS else tuple(masks)
    for piece in block.pieces:
        if piece.planar:
            mask = sum(1 << (start + channel * PROCESSORS_PER_MEMORY) for channel in range(piece.channels))
        else:
            mask = sizes.contiguous(start, piece.processors)
        mask = piece.mask or mask
        if mask.bit_length() > PROCESSORS:
            return None
        masks.append(mask)
        if not block.interleaved:
            start = last(mask) // PROCESSORS_PER_MEMORY * PROCESSORS_PER_MEMORY + PROCESSORS_PER_MEMORY
    return tuple(masks)


def _fifo_masks(block: Block, start: int) -> tuple[int, ...] | None:
    """Four channels for each of the FIFOs."""
    mask, left = 0, block.pieces[0].channels
    for begin in _FIFO_STARTS[_FIFO_STARTS.index(start) :]:
        mask |= sizes.contiguous(begin, min(left, PROCESSORS_PER_MEMORY))
        left -= min(left, PROCESSORS_PER_MEMORY)
    return None if left else (mask,)


_BY_TIME: Callable[[Block], tuple[int, ...]] = lambda block: (_life(block)[0],)  # noqa: E731
_BY_SIZE: Callable[[Block], tuple[int, ...]] = lambda block: (  # noqa: E731
    -max(piece.words for piece in block.pieces),
    _life(block)[0],
)
_BY_WIDTH: Callable[[Block], tuple[int, ...]] = lambda block: (  # noqa: E731
    -sum(piece.processors for piece in block.pieces),
    _life(block)[0],
)
_LOW_KERNELS: Callable[[_Choice], tuple[int, ...]] = lambda choice: (choice.level, choice.end)  # noqa: E731
_LOW_DATA: Callable[[_Choice], tuple[int, ...]] = lambda choice: (choice.end, choice.level)  # noqa: E731

_STRATEGIES = tuple(
    _Strategy(order, worth) for worth in (_LOW_KERNELS, _LOW_DATA) for order in (_BY_TIME, _BY_WIDTH, _BY_SIZE)
)


# -- the result --------------------------------------------------------------------------------------------------------
def _applied(network: Network, blocks: Sequence[Block]) -> Network:
    of = {piece.producer: (block, piece) for block in blocks for piece in block.pieces}
    return replace(network, layers=tuple(_with_places(layer, of) for layer in network.layers))


def _with_places(layer: Layer, of: Mapping[int, tuple[Block, Piece]]) -> Layer:
    block, piece = of[layer.index]
    mask = 0
    for source in layer.sources:
        mask |= of[source][1].mask
    read = of[layer.sources[0]][0]
    return replace(
        layer,
        processors=layer.processors or mask,
        in_offset=read.offset_of(layer.sources[0]),
        output_processors=piece.mask,
        out_offset=block.offset_of(layer.index),
        write_gap=layer.write_gap or block.gap,
    )


# -- limits of the chips -----------------------------------------------------------------------------------------------
def refuse_limits(network: Network) -> None:
    """UnsupportedError lists all that no placing can mend."""
    device = network.device
    problems: list[Problem] = []
    if len(network.layers) > device.layers:
        problems.append(
            Problem(
                f"the network has {len(network.layers)} layers",
                Where(network.file, model=network.name),
                f"the {device.part} runs {device.layers}",
                "remove layers; pools and additions before a convolution are not separate layers",
            )
        )
    biases = sum(
        layer.out_channels for layer in network.layers if layer.kernel is not None and _is_biased(layer.kernel)
    )
    if biases > QUADRANTS * device.bias_bytes:
        problems.append(
            Problem(
                f"the layers have {biases} biases",
                Where(network.file, model=network.name),
                f"the {device.part} holds {device.bias_bytes} for each of {QUADRANTS} quadrants",
                "make layers narrower, or train some of them without biases",
            )
        )
    for layer in network.layers:
        problems += [
            Problem(f"layer {layer.index}: {what}", plan_blocks.where(network, layer), rule, remedy)
            for what, rule, remedy in _limits(device, layer)
        ]
    if problems:
        raise UnsupportedError(problems)


def _is_biased(kernel: Kernel) -> bool:
    return kernel.bias is not None and bool(kernel.bias.any())


def _limits(device: Device, layer: Layer) -> Iterator[tuple[str, str, str]]:
    for words, channels in (("reads", layer.in_channels), ("puts out", layer.out_channels)):
        if channels > 16 * PROCESSORS:
            yield f"it {words} {channels} channels", f"at most {16 * PROCESSORS}", "make it narrower"
    for words, size in (("reads", layer.in_size), ("puts out", layer.out_size)):
        if max(size) > device.largest_side:
            yield (
                f"it {words} {size[0]} x {size[1]} pixels",
                f"the {device.part} counts up to {device.largest_side} rows and columns",
                "use a smaller image",
            )
    if layer.operands > 16:
        yield f"it has {layer.operands} operands", "at most 16", "add up the results of two layers"
