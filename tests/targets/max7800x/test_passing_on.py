"""Layers that pass data on: processors that are packed, and copies that are as good as what they were made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import Layer, Network
from buildtool.targets.max7800x.planning import overlap
from tests.targets.max7800x import machine

SIZE = (3, 5)


def passing(index: int, reading: int, writing: int, out_offset: int, **what: object) -> Layer:
    channels = reading.bit_count()
    layer = Layer(
        index, f"pass {index}", "none", (index - 1,), channels, SIZE, reading, 0, out_channels=channels, out_size=SIZE,
        output_processors=writing, out_offset=out_offset,
    )  # fmt: skip
    return replace(layer, **what)  # type: ignore[arg-type]


def network(device: Device, *layers: Layer) -> Network:
    return Network("passing", device, layers, layers[0].in_channels, SIZE)


def wrong_words(made: Network) -> int:
    sample = np.random.default_rng(3).integers(-128, 128, (made.input_channels, *SIZE))
    found, outcome = machine.differences(program.make(made, sample))
    assert not outcome.complaints
    return len(found)


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
@pytest.mark.parametrize(
    ("reading", "writing"),
    [(0x101, 0x3), (0x8421, 0xF0), (0x3C, 0xF), (0x5555, 0xFF), (0x0003_0111, 0x0030_0007), (0xE, 0x70)],
)
def test_processors_are_packed(device: Device, reading: int, writing: int) -> None:
    assert wrong_words(network(device, passing(0, reading, writing, 0x2000))) == 0


@pytest.mark.parametrize(
    ("reading", "writing"), [(0x101, 0x101), (0x3C, 0x3C), (0xE, 0xE), (0xF, 0x1E), (0x3, 0x30000)]
)
def test_what_packing_does_not_give_is_refused(reading: int, writing: int) -> None:
    (problem,) = overlap.check(network(MAX78000, passing(0, reading, writing, 0x2000)))
    assert "are packed" in problem.rule


def test_a_copy_is_as_good_as_what_it_was_made_of() -> None:
    first = passing(0, 0xFF, 0xFF, 0x1000)
    again = passing(1, 0xFF, 0xFF, 0x1000)  # reads the input where it still lies, not its copy
    last = passing(2, 0xFF, 0xFF, 0x2000, in_offset=0x1000)
    assert wrong_words(network(MAX78002, first, again, last)) == 0


def test_a_copy_for_other_processors_is_none() -> None:
    moved = passing(0, 0xF0F, 0xFF, 0x1000)
    again = passing(1, 0xFF, 0xFF, 0x2000)
    (problem,) = overlap.check(network(MAX78002, moved, again))
    assert "it finds the input" in problem.what or "it finds what the input wrote" in problem.what
