"""Quantised networks of torch compute the integers of the simulator, in every layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.errors import UnsupportedError, ValidationError
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import Network
from buildtool.training import evaluating
from buildtool.training.data import Data
from tests.targets.max7800x import machine
from tests.training.with_torch.networks import Chain, random_network


@pytest.fixture(scope="module")
def library() -> Path:
    return device_simulator(TARGET.simulator, ObjectCache())


def data_of(network: Chain, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    samples = rng.integers(-128, 128, (4, *network.shape))
    return Data("random", samples, np.zeros(4, np.int64), samples, np.zeros(4, np.int64))


def compared(seed: int, library: Path, folder: Path) -> tuple[Network, Data] | None:
    """None where the chip has no room or no such layer, which the planner says."""
    device = (MAX78000, MAX78002)[seed % 2]
    network = random_network(seed, depthwise=device is MAX78002)
    data = data_of(network, seed)
    try:
        on_chip = evaluating.chip_network("random", network, device, network.shape, folder)
    except UnsupportedError:
        return None
    assert evaluating.compare(network, on_chip, data, library) == len(on_chip.layers)
    return on_chip, data


def test_sixty_random_networks(library: Path, tmp_path: Path) -> None:
    results = [compared(seed, library, tmp_path) for seed in range(60)]
    assert sum(result is not None for result in results) >= 50


@pytest.mark.sweep
def test_three_hundred_random_networks_run_on_the_model_of_the_chip(library: Path, tmp_path: Path) -> None:
    """Its registers, kernels and data give the same sums."""
    ran = 0
    for seed in range(1000, 1360):
        found = compared(seed, library, tmp_path)
        if found is None:
            continue
        on_chip, data = found
        differences, outcome = machine.differences(program.make(on_chip, data.samples[0]))
        assert not outcome.complaints
        assert not differences
        ran += 1
    assert ran >= 300


def test_a_difference_is_named(library: Path, tmp_path: Path) -> None:
    network = random_network(1, depthwise=False)
    on_chip = evaluating.chip_network("random", network, MAX78002, network.shape, tmp_path)
    kernel = on_chip.layers[0].kernel
    assert kernel is not None
    kernel.weights.setflags(write=True)
    kernel.weights[0] = np.where(kernel.weights[0] == 0, -1, 0)
    with pytest.raises(ValidationError, match=r"layer 0 \(first\) differs from the simulator for sample 0"):
        evaluating.compare(network, on_chip, data_of(network, 1), library)
