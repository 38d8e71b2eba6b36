"""Random networks without places: what fits passes the check, and the machine computes what it did without places."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import INPUT
from buildtool.targets.max7800x.planning import overlap, planner
from buildtool.targets.max7800x.simulation import simulate
from tests.targets.max7800x import machine
from tests.targets.max7800x.sketches import Sketch, halved

KINDS = ("conv", "conv", "conv", "pass", "add", "add first", "join")


def drawn(seed: int, device: Device) -> Sketch:
    """Two to eight layers that read whatever fits of what came before them."""
    rng = np.random.default_rng(seed)
    side = int(rng.integers(4, 25))
    net = Sketch(int(rng.choice([1, 3, 4, 8, 20])), (side, side), device, seed)
    made: list[int] = []
    for _ in range(int(rng.integers(2, 9))):
        one = int(rng.choice([INPUT, *made, *made[-2:]]))
        channels, size = net.shape(one)
        alike = [other for other in (INPUT, *made) if net.shape(other)[1] == size]
        kind = rng.choice(KINDS)
        pool = halved(rng.choice(["max", "average"])) if min(size) >= 4 and rng.random() < 0.4 else None
        out, kernel = int(rng.choice([1, 3, 4, 6, 8, 12, 16, 30, 64, 72, 104])), int(rng.choice([1, 3]))
        if kind == "conv":
            made.append(net.conv(one, out=out, size=kernel, pool=pool, bits=int(rng.choice([8, 4, 2, 1]))))
        elif kind == "pass":
            made.append(net.passed(one, pool=pool if channels <= 64 else None))
        elif kind == "join":
            parts = [int(part) for part in rng.choice(alike, size=int(rng.integers(2, 4)))]
            wide = sum(net.shape(part)[0] for part in parts) > 64
            made.append(net.conv(*parts, out=out) if wide or rng.random() < 0.7 else net.passed(*parts))
        else:
            others = [other for other in alike if net.shape(other)[0] == channels]
            operands = [one, *(int(other) for other in rng.choice(others, size=int(rng.integers(1, 3))))]
            if kind == "add" or channels > 64 or device is MAX78002:
                made.append(net.add(*operands))
            else:
                made.append(net.conv(*operands, out=out, operands=len(operands), eltwise="add", size=kernel))
    if not made:
        net.conv(INPUT, out=4)
    return net


def compare(seed: int) -> None:
    sketch = drawn(seed, MAX78002 if seed % 4 == 3 else MAX78000)
    network, sample = sketch.network(), sketch.sample()
    try:
        placed = planner.place(network)
    except UnsupportedError as error:
        told = [problem.what for problem in error.problems]
        assert all("it joins" in what for what in told), told
        return
    assert [problem.render() for problem in overlap.check(placed)] == []
    assert np.array_equal(simulate.run(network, sample).result, simulate.run(placed, sample).result)
    found, outcome = machine.differences(program.make(placed, sample))
    assert not found
    assert not outcome.complaints


@pytest.mark.parametrize("seed", range(24))
def test_random_networks(seed: int) -> None:
    compare(seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_many_random_networks(seed: int) -> None:
    compare(seed)
