"""Where everything lies: planes in the KPU's RAM, bytes and floats in main memory. A plan, and an independent check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from buildtool.errors import InternalError, Problem, UnsupportedError, Where
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation import checks

ALIGNMENT = 8  # of main memory: words of the DMA, and of what the CPU adds at once
MAIN_BYTES = 6 << 20  # what the chip has, for everything that runs on it


@dataclass(eq=False)
class Buffer:
    """A part of one of the two memories: units of 64 bytes in the KPU's RAM, or bytes of main memory."""

    name: str
    in_ram: bool
    size: int

    @property
    def room(self) -> int:
        return self.size if self.in_ram else -(-self.size // ALIGNMENT) * ALIGNMENT


Places = Mapping[Buffer, int]


class NoRoomError(UnsupportedError):
    """The KPU's RAM is too small for what has to be in it at once."""


@dataclass(eq=False)
class Step:
    """One layer, or several whose outputs lie behind each other; it is made when places are known."""

    node: str  # of the source model, for messages
    reads: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]
    make: Callable[[Places], Sequence[Layer]]


@dataclass(frozen=True)
class Memory:
    places: Places
    ram_peak: int  # units
    main_peak: int  # bytes


@dataclass(frozen=True)
class _Life:
    buffer: Buffer
    first: int
    last: int  # both included

    def meets(self, other: _Life) -> bool:
        return self.first <= other.last and other.first <= self.last


def plan(steps: Sequence[Step], inputs: Sequence[Buffer], outputs: Sequence[Buffer], model: str) -> Memory:
    """Places for all buffers. NoRoomError names the step at which the KPU's RAM is too small."""
    lives = _lives(steps, inputs, outputs)
    ram = [life for life in lives if life.buffer.in_ram]
    main = [life for life in lives if not life.buffer.in_ram]
    ram_places, ram_peak = _best(ram)
    if ram_peak > layout.RAM_UNITS:
        ram_places, ram_peak = _two_ended(ram, layout.RAM_UNITS)
    if ram_peak > layout.RAM_UNITS:
        raise _too_large(steps, ram, model)
    main_places, main_peak = _best(main)
    return Memory({**ram_places, **main_places}, ram_peak, main_peak)


def _lives(steps: Sequence[Step], inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> list[_Life]:
    first: dict[Buffer, int] = dict.fromkeys(inputs, -1)
    last: dict[Buffer, int] = dict.fromkeys(inputs, -1)
    for number, step in enumerate(steps):
        for buffer in (*step.reads, *step.writes):
            first.setdefault(buffer, number)
            last[buffer] = number
    last.update(dict.fromkeys(outputs, len(steps)))
    return [_Life(buffer, begin, last[buffer]) for buffer, begin in first.items()]


def _best(lives: Sequence[_Life]) -> tuple[dict[Buffer, int], int]:
    """The smallest of what several orders of best fit give."""
    orders: tuple[Callable[[_Life], tuple[int, ...]], ...] = (
        lambda life: (-life.buffer.room, life.first),
        lambda life: (-life.buffer.room * (life.last - life.first + 1), life.first),
        lambda life: (life.first, -life.buffer.room),
        lambda life: (life.first - life.last, -life.buffer.room),
    )
    return min((_fit(sorted(lives, key=order)) for order in orders), key=lambda found: found[1])


def _fit(order: Sequence[_Life]) -> tuple[dict[Buffer, int], int]:
    """Each into the smallest gap that takes it."""
    placed: list[tuple[int, int, _Life]] = []
    for life in order:
        start, best, best_gap = 0, -1, -1
        for begin, end, _ in sorted((item for item in placed if item[2].meets(life)), key=lambda item: item[0]):
            gap = begin - start
            if gap >= life.buffer.room and (best < 0 or gap < best_gap):
                best, best_gap = start, gap
            start = max(start, end)
        begin = start if best < 0 else best
        placed.append((begin, begin + life.buffer.room, life))
    return {life.buffer: begin for begin, _, life in placed}, max((end for _, end, _ in placed), default=0)


def _two_ended(lives: Sequence[_Life], size: int) -> tuple[dict[Buffer, int], int]:
    """In order of time, now at the one and now at the other end of the memory."""
    placed: list[tuple[int, int, _Life]] = []
    for number, life in enumerate(sorted(lives, key=lambda one: one.first)):
        room = life.buffer.room
        taken = [(begin, end) for begin, end, other in placed if other.meets(life)]
        ends = [0, *(end for _, end in taken)], [size - room, *(begin - room for begin, _ in taken)]
        starts = sorted(ends[0]) if number % 2 == 0 else sorted(ends[1], reverse=True)
        free = (
            start
            for start in starts
            if 0 <= start <= size - room and all(start + room <= begin or end <= start for begin, end in taken)
        )
        begin = next(free, None)
        if begin is None:
            return {}, size + 1
        placed.append((begin, begin + room, life))
    used = max((end for _, end, _ in placed), default=0) - min((begin for begin, _, _ in placed), default=0)
    return {life.buffer: begin for begin, _, life in placed}, used


def _too_large(steps: Sequence[Step], ram: Sequence[_Life], model: str) -> NoRoomError:
    """At the step at which most is needed."""

    def needed(number: int) -> int:
        return sum(life.buffer.room for life in ram if life.first <= number <= life.last)

    number = max(range(len(steps)), key=needed)
    there = [life.buffer for life in ram if life.first <= number <= life.last]
    listed = ", ".join(f"'{buffer.name}' {buffer.size * layout.UNIT}" for buffer in there)
    return NoRoomError(
        f"the planes around layer {number} take {needed(number) * layout.UNIT} bytes: {listed}",
        where=Where(model=model, node=steps[number].node),
        rule=f"the KPU's RAM has {layout.RAM_BYTES} bytes, and stores the inputs and outputs of a layer",
        remedy="use a smaller input image, or fewer channels there",
    )


# -- the check ---------------------------------------------------------------------------------------------------------
def check(
    steps: Sequence[Step],
    layers: Sequence[Sequence[Layer]],
    memory: Memory,
    inputs: Sequence[Buffer],
    outputs: Sequence[Buffer],
) -> None:
    """Plays the layers through with the names of what lies where. InternalError tells what was overwritten, or what a
    layer touches that its step does not own."""
    problems = list(_Played(memory).run(steps, layers, inputs, outputs))
    if problems:
        raise InternalError(problems)


class _Played:
    """Both memories, each place with the number of the buffer that it holds. It shares nothing with the planner."""

    def __init__(self, memory: Memory) -> None:
        self._places = memory.places
        self._numbers = {buffer: number for number, buffer in enumerate(memory.places, 1)}
        self._ram = np.zeros(layout.RAM_UNITS, np.int32)
        self._main = np.zeros(checks.rounded(memory.main_peak), np.int32)

    def run(
        self,
        steps: Sequence[Step],
        layers: Sequence[Sequence[Layer]],
        inputs: Sequence[Buffer],
        outputs: Sequence[Buffer],
    ) -> Iterator[Problem]:
        for buffer in inputs:
            self._part(buffer)[:] = self._numbers[buffer]
        for step, made in zip(steps, layers, strict=True):
            for buffer in step.reads:
                yield from self._expect(buffer, step.node)
            for layer in made:
                yield from self._outside(step, layer)
            for buffer in step.writes:
                if self._part(buffer).size != buffer.size:
                    yield Problem(f"'{buffer.name}' exceeds its memory", Where(node=step.node))
                self._part(buffer)[:] = self._numbers[buffer]
            for buffer in (*step.reads, *step.writes):
                yield from self._expect(buffer, step.node)
        for buffer in outputs:
            yield from self._expect(buffer, "the end")

    def _part(self, buffer: Buffer) -> npt.NDArray[np.int32]:
        memory = self._ram if buffer.in_ram else self._main
        begin = self._places[buffer]
        return memory[begin : begin + buffer.size]

    def _expect(self, buffer: Buffer, node: str) -> Iterator[Problem]:
        intact = int((self._part(buffer) == self._numbers[buffer]).sum())
        if intact != buffer.size:
            yield Problem(
                f"{buffer.size - intact} of {buffer.size} of '{buffer.name}' are overwritten", Where(node=node)
            )

    def _outside(self, step: Step, layer: Layer) -> Iterator[Problem]:
        read, written = _touched(layer)
        for verb, parts, buffers in (("reads", read, step.reads), ("writes", written, step.writes)):
            for in_ram, begin, size in parts:
                if not any(self._holds(buffer, in_ram, begin, size) for buffer in buffers):
                    what = f"{layer.TYPE.name} {verb} {size} at {begin}, which is not one of its buffers"
                    yield Problem(what, Where(node=step.node))

    def _holds(self, buffer: Buffer, in_ram: bool, begin: int, size: int) -> bool:
        place = self._places[buffer]
        return buffer.in_ram == in_ram and place <= begin and begin + size <= place + buffer.size


_Part = tuple[bool, int, int]  # whether in the KPU's RAM, where, how much


def _touched(layer: Layer) -> tuple[list[_Part], list[_Part]]:
    """What a layer reads and what it writes, by the layer itself."""
    read = [(False, region.start, region.bytes) for region in layer.reads()]
    written = [(False, region.start, region.bytes) for region in layer.writes()]
    if isinstance(layer, Conv):
        argument = layer.argument
        source = layout.units(argument.in_w, argument.in_h, argument.in_channels)
        target = layout.units(argument.out_w, argument.out_h, argument.out_channels)
        read.append((True, argument.src, source))
        written.append((True, argument.dst, target))
    elif isinstance(layer, Upload):
        written.append((True, layer.kpu_out, layout.units(layer.w, layer.h, layer.c)))
    elif isinstance(layer, AddPadding):
        written.append((True, layer.kpu_out, layout.units(4, 4, layer.channels)))
    return read, written
