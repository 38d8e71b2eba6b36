"""Channels that take several passes: places of the last one that hold no channel, and operands in many passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.lowering.lower import lower
from buildtool.targets.max7800x.network import INPUT, Kernel
from buildtool.targets.max7800x.planning import planner
from tests.targets.k210.generating import Net, pictures, prepared
from tests.targets.max7800x import machine
from tests.targets.max7800x.graphs import assert_machine_agrees
from tests.targets.max7800x.sketches import Sketch, halved

IDLE = (70, 100, 130)  # channels whose last pass is not full
SIZE = (5, 4)


def of_signs(net: Sketch, source: int, out: int, *, depthwise: bool = False, size: int = 3) -> int:
    """A convolution with weights of plus and minus one: none of them is zero."""
    channels, picture = net.shape(source)
    rng = np.random.default_rng(out)
    weights = np.where(rng.random((out, 1 if depthwise else channels, size, size)) < 0.5, -1, 1).astype(np.int8)
    biases = rng.integers(1, 90, out).astype(np.int8)
    groups = out if depthwise else 1
    kernel = Kernel(weights, -1, biases, (size, size), pad=(size // 2, size // 2), groups=groups)
    return net._add("conv2d", (source,), out_channels=out, out_size=picture, kernel=kernel, output_shift=-1)


def assert_right(net: Sketch) -> None:
    found, outcome = machine.differences(program.make(planner.place(net.network()), net.sample()))
    assert not found
    assert not outcome.complaints


@pytest.mark.parametrize("channels", IDLE)
def test_channels_of_their_own_do_not_meet_what_is_in_idle_places(channels: int) -> None:
    net = Sketch(6, SIZE, MAX78002, channels)
    made = net.conv(INPUT, out=channels)
    net.conv(of_signs(net, made, channels, depthwise=True), out=5)
    assert_right(net)


@pytest.mark.parametrize("channels", IDLE)
@pytest.mark.parametrize("size", [1, 3])
def test_weights_without_a_zero_would_add_what_is_in_idle_places(channels: int, size: int) -> None:
    net = Sketch(6, SIZE, MAX78002, channels)
    of_signs(net, net.conv(INPUT, out=channels), 5, size=size)
    with pytest.raises(UnsupportedError, match=f"multiply {channels} channels and . unused ones"):
        program.make(planner.place(net.network()), net.sample())


def test_full_passes_and_the_input_have_no_such_places() -> None:
    full = Sketch(6, SIZE, MAX78002)
    of_signs(full, full.conv(INPUT, out=72), 5)
    assert_right(full)
    given = Sketch(70, SIZE, MAX78002)
    of_signs(given, INPUT, 5)
    assert_right(given)


def summed(channels: int, operands: int, **more: Any) -> Sketch:
    net = Sketch(channels, SIZE, MAX78000)
    what: dict[str, Any] = {"operands": operands, "eltwise": "add"}
    if more:
        net._add("none", (INPUT,) * operands, out_channels=channels, out_size=(2, 2), **what, **more)
    else:
        net.conv(*(INPUT,) * operands, out=3, **what)
    return net


@pytest.mark.parametrize(("channels", "operands"), [(130, 2), (70, 3)])
@pytest.mark.parametrize("pools", [True, False])
def test_operands_in_many_passes_are_a_layer_alone(channels: int, operands: int, pools: bool) -> None:
    net = summed(channels, operands, **({"pool": halved()} if pools else {}))
    with pytest.raises(UnsupportedError, match=f"{operands} operands of {channels} channels and a"):
        program.make(planner.place(net.network()), net.sample())


@pytest.mark.parametrize("pools", [True, False])
def test_two_operands_in_two_passes_may_be_pooled_or_multiplied(pools: bool) -> None:
    assert_right(summed(70, 2, **({"pool": halved()} if pools else {})))


def test_models_whose_sums_are_too_wide_get_layers_of_their_own() -> None:
    net = Net(3)
    x = net.input(1, 6, 6, 8)
    both = [net.layer(x, 132, 1) for _ in range(2)]
    pooled = net.pool(net("add", *both))
    graph = prepared(net.finish(net.layer(pooled, 6, 1)))
    lowered = lower(graph, MAX78000)
    (picture,) = pictures(graph, 1, seed=5)[0].values()
    assert_machine_agrees(lowered, picture)
    sums = [layer for layer in lowered.network.layers if layer.operands > 1]
    assert [layer.pool for layer in sums] == [None]
