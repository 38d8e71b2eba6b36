"""A place for the biases of every layer.

Each quadrant has a memory of bytes. A layer's biases lie in one of them, those of depthwise convolutions in every
quadrant that works on the layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Problem, UnsupportedError
from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import (
    MAX78000,
    PROCESSORS_PER_MEMORY,
    PROCESSORS_PER_QUADRANT,
    QUADRANTS,
    Device,
)
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer

_NOBODY = 1 << 20  # in place of a bias where no channel is


@dataclass(frozen=True)
class PlacedBiases:
    """Where the biases of one layer begin."""

    offsets: tuple[int | None, ...]  # in the memory of each quadrant
    quadrant: int | None  # that holds them; None: every one that works on the layer


@dataclass(frozen=True)
class BiasMemory:
    """All biases of a network."""

    placed: Mapping[int, PlacedBiases]  # by position of the layer
    bytes: tuple[bytes, ...]  # of each quadrant, as far as it is used


class _Memories:
    """The memories of the quadrants while they fill."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held = [bytearray() for _ in range(QUADRANTS)]

    def emptiest(self, quadrants: Sequence[int]) -> int:
        return min(quadrants, key=lambda quadrant: len(self.held[quadrant]))

    def add(self, quadrant: int, values: Iterable[int]) -> int:
        """Append; the offset where they begin."""
        offset = len(self.held[quadrant])
        self.held[quadrant] += bytes(value & 0xFF for value in values)
        return offset


def place(device: Device, layers: Sequence[HardwareLayer], quadrants: Sequence[int]) -> BiasMemory:
    """Find a place for the biases of all layers; `quadrants` are those that the network uses.

    First come depthwise layers, which have no choice, then those that flatten (on the MAX78000 they want low offsets),
    those with one quadrant to choose from, and the rest, the longest first; each goes to the emptiest memory.
    UnsupportedError names every layer that has no room.
    """
    memories = _Memories(device.bias_bytes)
    placed: dict[int, PlacedBiases] = {}
    biased = [at for at, hardware in enumerate(layers) if has_biases(hardware)]
    for at in biased:
        if layers[at].groups > 1:
            twin = next((other for other in placed if _same_everywhere(layers[other], layers[at])), None)
            placed[at] = _place_everywhere(memories, layers[at]) if twin is None else placed[twin]
    problems = _overfull(memories, [layers[at] for at in placed])
    stored: dict[bytes, int] = {}
    singles = [at for at in biased if at not in placed]
    for at in sorted(singles, key=lambda at: _rank(device, layers[at], quadrants)):
        values = _values(device, layers[at], first=at == 0)
        choice = _choice(layers[at], quadrants)
        if values in stored:
            placed[at] = placed[stored[values]]
            continue
        if layers[at].hint("calcx4"):  # four biases are read at once
            quadrant = min(choice, key=lambda quadrant: -(-len(memories.held[quadrant]) // 4))
            memories.add(quadrant, bytes(-len(memories.held[quadrant]) % 4))
        else:
            quadrant = memories.emptiest(choice)
        room = memories.size - len(memories.held[quadrant])
        if len(values) > room:
            problems.append(_no_room(memories, layers[at], len(values), choice))
            continue
        offset = memories.add(quadrant, values)
        placed[at] = PlacedBiases((offset,) * QUADRANTS, quadrant)
        stored[values] = at
    if problems:
        raise UnsupportedError(problems)
    return BiasMemory(dict(sorted(placed.items())), tuple(bytes(held) for held in memories.held))


def has_biases(hardware: HardwareLayer) -> bool:
    kernel = hardware.layer.kernel
    return kernel is not None and kernel.bias is not None and bool(np.any(kernel.bias))


def _choice(hardware: HardwareLayer, quadrants: Sequence[int]) -> Sequence[int]:
    """The quadrants that may hold a layer's biases."""
    if hardware.layer.bias_group is not None:
        return (hardware.layer.bias_group,)
    return hardware.layer.bias_groups or quadrants


def _rank(device: Device, hardware: HardwareLayer, quadrants: Sequence[int]) -> int:
    if device is MAX78000 and hardware.layer.flatten:
        return -device.bias_bytes - 2
    if len(_choice(hardware, quadrants)) == 1:
        return -device.bias_bytes - 1
    return -_length(hardware)


def _lead(hardware: HardwareLayer) -> int:
    """Bytes before the first bias: outputs that begin within a data memory count from its first processor."""
    within = processors.first(hardware.layer.output_processors) % PROCESSORS_PER_MEMORY
    return within * hardware.out_passes


def _length(hardware: HardwareLayer) -> int:
    return _lead(hardware) + hardware.layer.out_channels


def _values(device: Device, hardware: HardwareLayer, first: bool) -> bytes:
    lead = _lead(hardware)
    if first and hardware.layer.streaming and device is MAX78000:
        lead += 1  # the first layer that streams begins one byte late
    return bytes(lead) + _biases(hardware).tobytes()


def _same_everywhere(one: HardwareLayer, other: HardwareLayer) -> bool:
    """Whether two depthwise layers have the same biases in the same places."""
    return (
        one.layer.processors == other.layer.processors
        and one.broadcasts == other.broadcasts
        and _biases(one).tobytes() == _biases(other).tobytes()
    )


def _biases(hardware: HardwareLayer) -> NDArray[np.int8]:
    kernel = hardware.layer.kernel
    assert kernel is not None and kernel.bias is not None
    return kernel.bias.astype(np.int8)


def _place_everywhere(memories: _Memories, hardware: HardwareLayer) -> PlacedBiases:
    layer = hardware.layer
    quadrants = processors.quadrants(layer.processors)
    padded = np.full((hardware.in_passes, hardware.in_per_pass), _NOBODY)
    padded.reshape(-1)[: layer.out_channels] = _biases(hardware)
    at_processor = np.full((hardware.in_passes, QUADRANTS, PROCESSORS_PER_QUADRANT), _NOBODY)
    numbers = np.array(processors.used(layer.processors))
    if not hardware.broadcasts:  # the first quadrant counts from its first processor that is used
        within = numbers // PROCESSORS_PER_QUADRANT == quadrants[0]
        numbers = np.where(within, numbers - numbers[0] % PROCESSORS_PER_QUADRANT, numbers)
    at_processor[:, numbers // PROCESSORS_PER_QUADRANT, numbers % PROCESSORS_PER_QUADRANT] = padded
    offsets: list[int | None] = [None] * QUADRANTS
    for quadrant in quadrants:
        values = at_processor[:, quadrant]
        if hardware.broadcasts:  # four processors at a time, one of each data memory
            memories.add(quadrant, bytes(-len(memories.held[quadrant]) % PROCESSORS_PER_MEMORY))
            values = values.reshape(-1, 4, PROCESSORS_PER_MEMORY).transpose(0, 2, 1).reshape(len(values), -1)
        elif len(quadrants) == 1:
            values = values[:, : int(numbers[-1]) % PROCESSORS_PER_QUADRANT + 1]
        flat = values.reshape(-1)
        if quadrant == quadrants[-1]:  # what nobody reads at the end takes no room
            flat = flat[: int(np.flatnonzero(flat != _NOBODY)[-1]) + 1]
        offsets[quadrant] = memories.add(quadrant, [0 if value == _NOBODY else int(value) for value in flat])
    return PlacedBiases(tuple(offsets), None)


def _overfull(memories: _Memories, layers: Sequence[HardwareLayer]) -> list[Problem]:
    for quadrant, held in enumerate(memories.held):
        if len(held) > memories.size:
            names = ", ".join(f"'{hardware.layer.name}'" for hardware in layers)
            return [
                Problem(
                    f"bias memory of quadrant {quadrant} is full: depthwise layers {names} need {len(held)} bytes",
                    layers[0].where,
                    rule=f"{memories.size} bytes for each quadrant",
                    remedy="move some of them to other quadrants, or train them without biases",
                )
            ]
    return []


def _no_room(memories: _Memories, hardware: HardwareLayer, needed: int, choice: Sequence[int]) -> Problem:
    left = max(memories.size - len(memories.held[quadrant]) for quadrant in choice)
    where = ", ".join(str(quadrant) for quadrant in choice)
    return Problem(
        f"bias memory is full: {needed} bytes are needed, {left} are left; {needed - left} too many",
        hardware.where,
        rule=f"{memories.size} bytes for each quadrant; quadrants to choose from: {where}",
        remedy="spread the processors of the network over more quadrants, or train layers without biases",
    )
