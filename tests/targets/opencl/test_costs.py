"""What nodes and copies are expected to take: larger work takes longer, and what was measured holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph
from buildtool.runtimes import Runtime
from buildtool.targets.regions.costs import DeviceCosts, Speed, copy_costs, node_costs
from buildtool.targets.regions.placement import CopyCost, NodeCost, place
from tests.passes.harness import Maker
from tests.passes.test_regions import loop

_PLAIN = DeviceCosts(
    device=Speed(gmacs=10.0, gigabytes=2.0, start_us=5.0, half_gain=2.0),
    cpu=Speed(gmacs=4.0, gigabytes=1.0, start_us=1.0),
    upload=Speed(gmacs=1.0, gigabytes=1.0, start_us=7.0),
    download=Speed(gmacs=1.0, gigabytes=0.5, start_us=9.0),
)


def _network(size: int) -> Graph:
    """Three convolutions of 32 channels between two additions."""
    make = Maker()
    value = make.input(1, size, size, 32)
    value = make("add", value, value)
    for _ in range(3):
        value = make.conv(value, 32)
    return make.finish(make("add", value, value))


def test_a_kernel_computes_or_waits_for_memory() -> None:
    make = Maker()
    x = make.input(1, 6, 6, 5)
    graph = make.finish(make("relu", make.conv(x, 7, kernel=1)))
    conv, relu = (node_costs(graph, lambda _: "", _PLAIN)[node] for node in graph.nodes)
    macs, numbers = 36 * 7 * 5, 36 * 5 + 7 * 5 + 36 * 7
    assert conv.cpu_us == pytest.approx(1 + max(macs / 4e3, numbers * 4 / 1e3))
    assert relu == NodeCost(pytest.approx(1 + 2 * 36 * 7 * 4 / 1e3), pytest.approx(5 + 2 * 36 * 8 * 4 / 2e3))  # type: ignore[arg-type]


def test_a_convolution_is_bound_by_what_it_computes() -> None:
    graph = _network(20)
    for half, gain in ((False, 1), (True, 2)):
        found = node_costs(graph, lambda _: "", _with(half=half))[graph.nodes[1]]
        macs = 18 * 18 * 32 * 9 * 32
        assert found.device_us == pytest.approx(5 + macs / (10e3 * gain))
        assert found.cpu_us == pytest.approx(1 + macs / 4e3)


def test_a_view_is_free_on_the_cpu_only() -> None:
    make = Maker()
    graph = make.finish(make("reshape", make.input(1, 6, 4), shape=(6, 4)))
    assert node_costs(graph, lambda _: "", _with(half=True))[graph.nodes[0]] == NodeCost(1.0, 5 + 2 * 24 * 2 / 2e3)


def test_a_loop_costs_what_is_in_it() -> None:
    make = Maker()
    x, w = make.input(4, 4), make.random(4, 4)
    (y,) = loop(make, 3, [x], lambda inputs: [make("matmul", inputs[1], w)])
    graph = make.finish(y)
    slow = Speed(gmacs=1e-3, gigabytes=1.0, start_us=0.0)
    (node,) = graph.nodes
    assert node_costs(graph, lambda _: "no loops", DeviceCosts(cpu=slow))[node] == NodeCost(64.0, None, "no loops")


def test_sizes_that_vary_count_with_their_bounds() -> None:
    make = Maker()
    x = make.input(symbol("n", 1, 250), 4)
    assert copy_costs(_PLAIN)(x) == CopyCost(7.0 + 4.0, 9.0 + 8.0)


def test_measured_times_replace_estimates() -> None:
    graph = _network(8)
    costs = _with(device_ns={"conv2d_1": 1500}, cpu_ns={"conv2d_2": 2500, "": 7})
    found = node_costs(graph, lambda _: "", costs)
    estimated = node_costs(graph, lambda _: "", _PLAIN)
    assert found[graph.nodes[1]] == NodeCost(estimated[graph.nodes[1]].cpu_us, 1.5)
    assert found[graph.nodes[2]] == NodeCost(2.5, estimated[graph.nodes[2]].device_us)
    assert found[graph.nodes[3]] == estimated[graph.nodes[3]]


@pytest.mark.parametrize(("size", "side"), [(8, "cpu"), (128, "device")])
def test_the_defaults_send_large_networks_to_the_device(size: int, side: str) -> None:
    graph, costs = _network(size), DeviceCosts()
    placement = place(graph, node_costs(graph, lambda _: "", costs), copy_costs(costs), Runtime.CPU_GPU)
    assert placement.sides[1:4] == (side,) * 3


def _with(**changes: Any) -> DeviceCosts:
    return replace(_PLAIN, **changes)
