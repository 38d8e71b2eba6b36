"""A plan, written as a description and a checkpoint, reads back as the same network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import writing
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.lowering.lower import lower
from buildtool.targets.max7800x.network import Layer, Network, Source
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.k210.generating import prepared
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.graphs import GRAPHS
from tests.targets.max7800x.known_answers import KnownAnswer


def read_back(network: Network, folder: Path) -> Network:
    made = writing.written(network)
    (folder / "network.yaml").write_text(made.description)
    (folder / "weights.pth.tar").write_bytes(made.checkpoint)
    options = description.Options("--fifo" in made.switches, average_rounds="--avg-pool-rounding" in made.switches)
    weights = folder / "weights.pth.tar" if any(layer.kernel for layer in network.layers) else None
    return description.read(folder / "network.yaml", device=network.device, weights=weights, options=options).network


def plain(layer: Layer) -> tuple[Layer, list[object]]:
    """A layer without what need not come back, and its numbers."""
    kernel = layer.kernel
    numbers = [] if kernel is None else [kernel.weights.tolist(), None if kernel.bias is None else kernel.bias.tolist()]
    if kernel is not None:
        kernel = replace(kernel, weights=np.zeros(0, np.int8), bias=None)
    return replace(layer, name="", source=Source(), kernel=None, hints={}), [numbers, str(kernel)]


def assert_alike(one: Network, other: Network) -> None:
    for first, second in zip(one.layers, other.layers, strict=True):
        assert plain(first) == plain(second)
    assert (one.input_channels, one.input_size, one.fifo) == (other.input_channels, other.input_size, other.fifo)


@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "mixture"])
def test_plans_read_back(name: str, tmp_path: Path) -> None:
    network = lower(prepared(GRAPHS[name]()), MAX78000).network
    found = read_back(network, tmp_path)
    assert_alike(network, found)
    sample = np.random.default_rng(3).integers(-128, 128, (network.input_channels, *network.input_size))
    one, other = (simulate.run(each, sample) for each in (network, found))
    assert all(np.array_equal(a, b) for a, b in zip(one.outputs, other.outputs, strict=True))


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_known_networks_read_back(name: str, tmp_path: Path) -> None:
    network = KnownAnswer(name).network
    assert_alike(network, read_back(network, tmp_path))


def test_a_description_says_how_to_go_on() -> None:
    network = lower(prepared(GRAPHS["large"]()), MAX78000).network
    first, *_ = writing.written(network).description.splitlines()
    assert first == "# Places found by Lathe. For ai8xize: --device MAX78000 --fifo --avg-pool-rounding"
