"""Depthwise convolutions of the MAX78002 whose outputs go to other processors: what quadrants can write."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import INPUT, Kernel, Layer, Network
from tests.targets.max7800x import machine

SIZE = (4, 5)


def some(count: int, first: int = 0) -> int:
    """Neighbouring processors."""
    return ((1 << count) - 1) << first


def moving(channels: int, reading: int, writing: int, width: int = 8, kernel: int = 3) -> Network:
    rng = np.random.default_rng(channels)
    weights = rng.integers(-128, 128, (channels, 1, kernel, kernel)).astype(np.int8)
    biases = rng.integers(-128, 128, channels).astype(np.int8)
    one = Kernel(weights, bias=biases, size=(kernel, kernel), pad=(kernel // 2, kernel // 2), groups=channels)
    layer = Layer(
        0, "moving", "conv2d", (INPUT,), channels, SIZE, reading, 0, kernel=one, output_shift=-1, out_channels=channels,
        out_size=SIZE, output_processors=writing, out_offset=0x4000, output_width=width,
    )  # fmt: skip
    return Network("moving", MAX78002, (layer,), channels, SIZE)


@pytest.mark.parametrize(
    ("channels", "reading", "writing", "width"),
    [
        (8, some(8), some(8, 4), 8),
        (16, some(16), some(16, 16), 8),
        (30, some(30, 12), some(30, 20), 8),
        (36, some(36, 8), some(36, 4), 8),
        (100, some(52), some(52, 4), 8),
        (4, some(4), some(4, 4), 32),
        (17, some(17), some(17), 32),
        (128, some(64), some(64), 32),
    ],
)
def test_outputs_are_where_the_machine_puts_them(channels: int, reading: int, writing: int, width: int) -> None:
    sample = np.random.default_rng(1).integers(-128, 128, (channels, *SIZE))
    found, outcome = machine.differences(program.make(moving(channels, reading, writing, width), sample))
    assert not found
    assert not outcome.complaints


@pytest.mark.parametrize(
    ("channels", "reading", "writing", "width", "what"),
    [
        (8, some(8), some(8, 4), 32, "32 words for each pixel"),
        (16, some(16), some(16, 16), 32, "64 words for each pixel"),
        (8, some(8), some(8, 5), 8, "writes from processor 5 on"),
        (20, some(20, 3), some(20, 8), 8, "reads from processor 3 on"),
    ],
)
def test_channels_that_no_quadrant_writes_are_refused(
    channels: int, reading: int, writing: int, width: int, what: str
) -> None:
    network = moving(channels, reading, writing, width)
    with pytest.raises(UnsupportedError, match=what):
        program.make(network, np.zeros((channels, *SIZE), np.int64))
