"""Networks whose first layers stream, with their input through the FIFO, on the model of the accelerator."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from buildtool.errors import LatheError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.network import INPUT, Network, Pool
from buildtool.targets.max7800x.planning import planner
from tests.targets.max7800x.machine import FIFO, differences, script_of
from tests.targets.max7800x.sketches import Sketch, halved

POOLS = (None, halved(), halved("average"), Pool("max", (3, 3), (2, 2)), Pool("max", (2, 2), (1, 1)))
LEAST_SIDE, MOST_SIDE = 20, 40  # what is left after four pools is larger than a kernel


def drawn(seed: int, device: Device) -> tuple[Network, Sketch]:
    """One to four convolutions, of which the first ones stream."""
    choose = random.Random(seed)
    sides = choose.randint(LEAST_SIDE, MOST_SIDE), choose.randint(LEAST_SIDE, MOST_SIDE)
    net = Sketch(choose.choice((1, 2, 3, 4, 6, 12)), sides, device, seed)
    count = choose.randint(1, 4)
    streaming = choose.randint(1, count)
    at = INPUT
    for index in range(count):
        pool = choose.choice(POOLS if index else (None, halved()))
        at = net.conv(at, out=choose.choice((4, 8, 15, 30, 64)), pool=pool, streaming=index < streaming)
    return replace(net.network(), fifo=True), net


def made(seed: int, device: Device) -> Program:
    network, net = drawn(seed, device)
    return program.make(planner.place(network), net.sample())


def compare(seeds: range, device: Device) -> None:
    compared = 0
    for seed in seeds:
        try:
            found = made(seed, device)
        except LatheError:  # too many kernels, or too many channels for the FIFO
            continue
        wrong, outcome = differences(found)
        assert outcome.complaints == (), seed
        assert (outcome.interrupts, wrong) == (1, []), seed
        compared += 1
    assert compared >= len(seeds) * 2 // 3


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_streaming_networks_compute_what_the_simulator_says(device: Device) -> None:
    compare(range(8), device)


@pytest.mark.sweep
@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_many_streaming_networks_compute_what_the_simulator_says(device: Device) -> None:
    compare(range(100, 250), device)


def test_a_network_waits_for_the_whole_picture() -> None:
    script = script_of(made(0, MAX78000))
    last = max(at for at, line in enumerate(script.lines) if line.startswith(f"w {FIFO:x}"))
    del script.lines[last]
    outcome = script.run()
    assert outcome.interrupts == 0
    assert outcome.complaints == ()


def test_a_ring_that_is_too_small_is_told() -> None:
    found = next(one for one in (made(seed, MAX78000) for seed in range(8)) if one.network.layers[0].pool is not None)
    script = script_of(found)
    ring = f"w {0x50100010 + 0x80 * 18:x} "  # FMAX of the first layer
    script.lines = [ring + "1" if line.startswith(ring) else line for line in script.lines]
    assert any("FMAX is 0x1" in line for line in script.run().complaints)
