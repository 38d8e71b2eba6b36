"""Finds the first place where a run differs from what was expected: layer, channel, pixel.

What is compared with the simulator is either words that were read from data memory, or the outputs of layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import PROCESSORS_PER_MEMORY, Device
from buildtool.targets.max7800x.firmware import addresses
from buildtool.targets.max7800x.firmware.addresses import WORD
from buildtool.targets.max7800x.firmware.data_memory import Stored, stored
from buildtool.targets.max7800x.network import Layer, Network
from buildtool.targets.max7800x.simulation import arithmetic, checks
from buildtool.targets.max7800x.simulation.arithmetic import Values
from buildtool.targets.max7800x.simulation.checks import times
from buildtool.targets.max7800x.simulation.simulate import Trace

_FEW = 2  # channels that are named one by one
_TELLING_VALUE = 4  # of which a factor can be told
_TELLING_COUNT = 8


@dataclass(frozen=True)
class Difference:
    """The first wrong value of a layer, and how many there are."""

    layer: Layer
    channel: int
    row: int
    column: int
    expected: int
    found: int
    wrong: int  # values
    compared: int
    channels: tuple[int, ...]  # that hold wrong values
    address: int | None = None  # of the word, where words were compared
    guess: str = ""  # what it looks like

    def __str__(self) -> str:
        at = f" (word at {self.address:#010x})" if self.address is not None else ""
        text = (
            f"{checks.where(self.layer)}: layer {self.layer.index}, channel {self.channel}, row {self.row}, "
            f"column {self.column}{at}: {self.found} instead of {self.expected}; "
            f"{self.wrong} of {self.compared} values are wrong, {self._which()}"
        )
        return f"{text}\n  it looks as if {self.guess}" if self.guess else text

    def _which(self) -> str:
        if len(self.channels) == self.layer.out_channels and len(self.channels) > 1:
            return "in all channels"
        if len(self.channels) <= _FEW:
            word = "channel" if len(self.channels) == 1 else "channels"
            return f"in {word} {' and '.join(map(str, self.channels))}"
        return f"in {len(self.channels)} channels, {self.channels[0]} to {self.channels[-1]}"

    def as_json(self) -> dict[str, Any]:
        own = {key: value for key, value in vars(self).items() if key not in ("layer", "channels")}
        return {"layer": self.layer.index, "name": self.layer.name, **own, "channels": list(self.channels)}


@dataclass(frozen=True)
class Comparison:
    """Of one run."""

    compared: tuple[Layer, ...]  # in the order in which they ran
    differences: tuple[Difference, ...]  # at most one for each layer, likewise
    missing: tuple[str, ...] = ()  # what was expected and was not given

    @property
    def same(self) -> bool:
        return not self.differences and not self.missing

    @property
    def first(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    def __str__(self) -> str:
        lines = [f"not given: {what}" for what in self.missing]
        if self.first is None:
            count = len(self.compared)
            if count:
                lines.append(f"{'the output' if count == 1 else f'all {count} outputs'} as expected")
            return "\n".join(lines)
        lines.append(str(self.first))
        later = [str(difference.layer.index) for difference in self.differences[1:]]
        if later:
            lines.append(f"  wrong as well, perhaps for that reason: layers {', '.join(later)}")
        return "\n".join(lines)


def with_outputs(trace: Trace, found: Mapping[int, Values]) -> Comparison:
    """The outputs of layers, by their numbers, with those of a run. Layers that are not in `found` are not compared."""
    compared, differences, missing = [], [], []
    for at in trace.order:
        layer, expected = trace.network.layers[at], trace.outputs[at]
        if layer.index not in found:
            continue
        values = found[layer.index]
        if values.shape != expected.shape:
            missing.append(f"layer {layer.index} is {times(values.shape)} instead of {times(expected.shape)}")
            continue
        compared.append(layer)
        if difference := _difference(layer, expected, values, np.ones(expected.shape, bool)):
            differences.append(difference)
    if not compared and not missing:
        missing.append("the output of any layer that runs")
    return Comparison(tuple(compared), tuple(differences), tuple(missing))


def with_words(trace: Trace, words: Mapping[int, int], positions: tuple[int, ...] | None = None) -> Comparison:
    """Words of data memory, by address, with the outputs of a run: of the layers at `positions`, else of its results.

    The words may be of a part of the output; an output none of which is there is missing.
    """
    compared, differences, missing = [], [], []
    for at in positions if positions is not None else tuple(trace.results):
        layer, expected = trace.network.layers[at], trace.outputs[at]
        values, given = values_of(trace.network, layer, words)
        if not given.any():
            missing.append(f"the words of layer {layer.index}, from {min(_places(trace.network, layer)):#010x} on")
            continue
        compared.append(layer)
        if difference := _difference(layer, expected, values, given):
            place = address(trace.network, layer, difference.channel, difference.row, difference.column)
            differences.append(Difference(**{**vars(difference), "address": place // WORD * WORD}))
    return Comparison(tuple(compared), tuple(differences), tuple(missing))


def values_of(network: Network, layer: Layer, words: Mapping[int, int]) -> tuple[Values, Any]:
    """A layer's output as it lies in words of memory, and which of its values were there."""
    shape = (layer.out_channels, *layer.out_size)
    values, given = np.zeros(np.prod(shape, dtype=int), np.int64), np.zeros(np.prod(shape, dtype=int), bool)
    for place, at in _places(network, layer).items():
        word = words.get(place // WORD * WORD)
        if word is None:
            continue
        bits = layer.output_width
        raw = word >> 8 * (place % WORD) & (1 << bits) - 1
        values[at] = raw - (1 << bits) if raw >> bits - 1 else raw
        given[at] = True
    return values.reshape(shape), given.reshape(shape)


def address(network: Network, layer: Layer, channel: int, row: int, column: int) -> int:
    """Of the first byte of a value of a layer's output."""
    wanted = int(np.ravel_multi_index((channel, row, column), (layer.out_channels, *layer.out_size)))
    return next(place for place, at in _places(network, layer).items() if at == wanted)


def _places(network: Network, layer: Layer) -> dict[int, int]:
    """By the address of its first byte: the number of a value, channel by channel."""
    output = stored(layer)
    return dict(_addressed(network.device, output))


def _addressed(device: Device, output: Stored) -> Iterator[tuple[int, int]]:
    map_of_chip = addresses.of(device)
    pixels = output.size[0] * output.size[1]
    for number, processor, channel, lanes in output.groups():
        start = output.address(map_of_chip, processor, number)
        for beside, lane in enumerate(lanes):
            offset = lane * (WORD if output.width == 32 else 1)
            for pixel in range(pixels):
                yield start + offset + pixel * output.step, (channel + beside) * pixels + pixel


def _difference(layer: Layer, expected: Values, found: Values, given: Any) -> Difference | None:
    wrong = (expected != found) & given
    if not wrong.any():
        return None
    channel, row, column = (int(at) for at in np.argwhere(wrong)[0])
    return Difference(
        layer,
        channel,
        row,
        column,
        int(expected[channel, row, column]),
        int(found[channel, row, column]),
        int(wrong.sum()),
        int(given.sum()),
        tuple(int(at) for at in np.flatnonzero(wrong.any(axis=(1, 2)))),
        guess=_guess(layer, expected, found, wrong),
    )


def _guess(layer: Layer, expected: Values, found: Values, wrong: Any) -> str:
    """What the wrong values have in common; empty where nothing is seen."""
    left, right = expected[wrong], found[wrong]
    if not found.any():
        return "the layer wrote nothing there: its output is all zeros"
    if layer.pool and layer.pool.kind == "average" and np.abs(left - right).max() == 1:
        return "averages are rounded in one of the two and truncated in the other (--avg-pool-rounding)"
    if layer.activation == "relu" and np.array_equal(np.maximum(right, 0), left):
        return "the activation is missing"
    if np.array_equal(np.sort(expected, axis=None), np.sort(found, axis=None)):
        if np.array_equal(np.sort(expected, axis=0), np.sort(found, axis=0)):
            return "channels are exchanged: check processors and the order of sources"
        return "the values are correct but at other positions: check rows, columns and offsets"
    if times_off := _factor(left, right):
        return f"the values are {times_off}: check `output_shift` and the bits of the weights"
    memories = {at // PROCESSORS_PER_MEMORY for at in _processors(layer, wrong)}
    if len(memories) == 1 and len(processors.memories(layer.output_processors)) > 1:
        return f"only data memory {memories.pop()} is wrong: something else may have written there"
    return ""


def _factor(expected: Values, found: Values) -> str:
    """By which power of two values are off; those at the ends say nothing, nor do small ones."""
    telling = (np.abs(expected) < arithmetic.HIGHEST) & (np.abs(found) < arithmetic.HIGHEST)
    telling &= np.minimum(np.abs(expected), np.abs(found)) > _TELLING_VALUE
    if telling.sum() < _TELLING_COUNT:
        return ""
    for shift in (1, 2, 3):
        if np.all(np.abs(expected[telling] - (found[telling] << shift)) <= 1 << shift):
            return f"{1 << shift} times too small"
        if np.all(np.abs(found[telling] - (expected[telling] << shift)) <= 1 << shift):
            return f"{1 << shift} times too large"
    return ""


def _processors(layer: Layer, wrong: Any) -> Iterator[int]:
    """Those that hold wrong values."""
    used = processors.used(layer.output_processors)
    each = processors.per_pass(layer.out_channels)
    for channel in np.flatnonzero(wrong.any(axis=(1, 2))):
        if channel % each < len(used):
            yield used[channel % each]
