"""Layers in bands of rows: the same results, less memory, and limits that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import bands, budget, reference
from buildtool.targets.micro.bands import Region
from buildtool.targets.micro.network import Keep, Network
from buildtool.targets.micro.planning import plan
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import NONE, SAME, VALID, Model, images, inputs_of, network_of


def tall(seed: int) -> bytes:
    """A large image whose first layers are larger still; windows, steps, borders, a sum and a concatenation."""
    model = Model(seed)
    x = model.conv(model.input(1, 30, 22, 3), 12, (3, 3), 1)
    one = model.depthwise(x, (5, 3), 1)
    x = model.add(x, model.conv(one, 12, (1, 1), activation=NONE))
    spec = model.tensors[x]
    curved = model._node("HARD_SWISH", [x], model._activation(spec.shape, spec.quantisation), "", {})
    x = model.concat(x, curved if seed % 2 else x)
    x = model.pad(model.pool(x, "MAX", 3, 2, SAME))
    x = model.depthwise(x, (3, 3), 2, VALID)
    x = model.pool(model.conv(x, 20, (2, 2), 1, SAME), "AVERAGE", 2, 2, SAME)
    return model.file(model.dense(model.reshape(x, 1, int(np.prod(model.tensors[x].shape))), 5))


def _regions(network: Network) -> Iterator[Region]:
    for first in range(len(network.layers)):
        for last in range(first + 1, len(network.layers)):
            if bands.is_possible(network, first, last):
                yield from (Region(first, last, rows, kept) for rows in (1, 4) for kept in (True, False))


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seed"), [(tall, 1), (tall, 2), (images, 3)])
def test_bands_compute_the_same(make: object, seed: int, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(seed), tmp_path)
    inputs = inputs_of(network, seed)
    (expected,) = reference.evaluate(network, inputs).values()
    count = 0
    for region in _regions(network):
        found = bands.banded(network, region)
        (made,) = reference.evaluate(found, inputs).values()
        assert np.array_equal(made, expected), region
        assert not region.kept or found.macs == network.macs, region
        count += 1
    assert count > 50


def test_layers_that_are_read_elsewhere_stay_whole(tmp_path: Path) -> None:
    network = network_of(tall(1), tmp_path)
    assert bands.is_possible(network, 0, 3)
    assert not bands.is_possible(network, 0, 1)  # the sum behind reads the image in front
    assert not bands.is_possible(network, 0, 2)
    assert not bands.is_possible(network, 0, len(network.layers) - 1)  # a product with a matrix has no rows
    assert not bands.is_possible(network, 3, 3)


@pytest.mark.arm
@pytest.mark.parametrize(
    ("abi", "kept"),
    [("cortex-m0", True), ("cortex-m4", True), ("cortex-m4", False), ("cortex-m55", True), ("rv32imac", False)],
)
def test_bands_on_boards(abi: str, kept: bool, tmp_path: Path) -> None:
    network = network_of(tall(1), tmp_path)
    inputs = inputs_of(network, 4)
    (expected,) = reference.evaluate(network, inputs).values()
    whole = boards.run(network, abi, tmp_path, inputs)
    first = bands.banded(network, Region(0, 7, 2, kept))
    assert any(isinstance(layer, Keep) for layer in first.layers) == kept
    ran = boards.run(first, abi, tmp_path, inputs)
    (made,) = ran.result.outputs.values()
    assert np.array_equal(made, expected)
    assert ran.result.arena_bytes < 0.6 * whole.result.arena_bytes
    assert ran.instructions < (1.1 if kept else 2.0) * whole.instructions


@pytest.mark.slow
def test_a_limit_is_kept_at_the_least_price(tmp_path: Path) -> None:
    network = network_of(tall(2), tmp_path)
    smallest = budget.search(network, "dsp", 1)
    assert smallest.found is None
    plain = plan(network, "dsp").size
    assert smallest.smallest < 0.6 * plain
    prices = [(offer.plan.size, offer.instructions) for offer in smallest.offers]
    assert prices == sorted(prices, reverse=True, key=lambda each: (each[0], -each[1])) and len(prices) > 2
    for limit in (plain, (plain + smallest.smallest) // 2, smallest.smallest):
        found = budget.search(network, "dsp", limit).found
        assert found is not None and found.plan.size <= limit
        assert bool(found.stretches) == (limit < plain)
        best = min(price for size, price in prices if size <= limit)
        assert found.instructions <= best or limit == smallest.smallest
