"""Layers that pass data on: processors that are packed, and copies that are as good as what they were made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import Kernel, Layer, Network, Pool
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
def test_groupings_that_packing_does_not_give_are_refused(reading: int, writing: int) -> None:
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


def convolution(distance: int, **what: object) -> Network:
    """A layer whose output begins some words before its input, in the same memories."""
    weights = np.random.default_rng(5).integers(-128, 128, (4, 4, 3, 3)).astype(np.int8)
    layer = Layer(
        0, "convolution", "conv2d", (-1,), 4, (8, 8), 0xF, 0x1000, kernel=Kernel(weights, 8, None, (3, 3), pad=(1, 1)),
        output_shift=-4, out_channels=4, out_size=(8, 8), output_processors=0xF, out_offset=0x1000 - 4 * distance,
    )  # fmt: skip
    return Network("overlapping", MAX78000, (replace(layer, **what),), 4, (8, 8))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("distance", "what"),
    [
        (10, {}),
        (40, {}),
        (1, {"kernel": None, "operation": "none", "output_shift": 0}),
        (6, {"pool": Pool("max", (2, 2), (2, 2)), "out_size": (4, 4)}),
    ],
)
def test_words_that_were_read_may_be_overwritten(distance: int, what: dict[str, object]) -> None:
    made = convolution(distance, **what)
    assert overlap.check(made) == []
    sample = np.random.default_rng(3).integers(-128, 128, (4, 8, 8))
    assert machine.differences(program.make(made, sample))[0] == []


@pytest.mark.parametrize(
    ("distance", "what"),
    [
        (9, {}),
        (-1, {}),
        (10, {"pool": Pool("max", (2, 2), (1, 1)), "out_size": (7, 7), "out_offset": 0x1004}),
        (10, {"output_width": 32}),
    ],
)
def test_words_that_are_read_later_are_not(distance: int, what: dict[str, object]) -> None:
    (problem,) = overlap.check(convolution(distance, **what))
    assert "over what it reads" in problem.what and "`overlap_data`" in problem.remedy
