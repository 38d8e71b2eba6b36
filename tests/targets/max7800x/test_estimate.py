"""Cycles, counted position by position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from buildtool.reports import cycles as report
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.network import Layer, Network, Pool
from buildtool.targets.max7800x.simulation.estimate import estimate
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer
from tests.targets.max7800x.networks import networks
from tests.targets.max7800x.odd_networks import kernel, layer, network


def walked(step: Layer) -> int:
    """The cycles of a plain convolution: goes over the padded picture and looks at each position."""
    assert step.kernel is not None
    passes = -(-step.in_channels // 64)
    rows, columns = step.in_size
    window = 1
    if step.pool is not None:
        rows, columns = (
            (side - size) // by + 1
            for side, size, by in zip(step.in_size, step.pool.size, step.pool.stride, strict=True)
        )
        window = step.pool.size[0] * step.pool.size[1]
    if step.flatten:
        reach, pad = (1, 1), (0, 0)
    else:
        reach, pad = step.kernel.size, step.kernel.pad
    cycles = 1 if step.flatten else 0
    for row in range(-pad[0], rows + pad[0]):
        for column in range(-pad[1], columns + pad[1]):
            inside = 0 <= row < rows and 0 <= column < columns
            cycles += passes * step.operands * ((window if inside else 1) + 1)
            complete = row + pad[0] >= reach[0] - 1 and column + pad[1] >= reach[1] - 1
            cycles += passes * step.out_channels if complete else 1
        if row + pad[0] >= reach[0] - 1 and step.out_channels == passes == 1:
            cycles += 1  # a single output holds up each row
    return cycles


PLAIN = {
    "padded": ("conv2d", 3, (9, 11), {"kernel": kernel(7, 3, 3, 3)}),
    "padded by two": ("conv2d", 3, (4, 5), {"kernel": kernel(7, 3, 3, 3, pad=(2, 2))}),
    "not padded": ("conv2d", 3, (9, 11), {"kernel": kernel(7, 3, 3, 3, pad=(0, 0))}),
    "pooled": ("conv2d", 3, (9, 12), {"kernel": kernel(7, 3, 3, 3), "pool": Pool("max", (2, 3), (2, 2))}),
    "points": ("conv2d", 70, (4, 4), {"kernel": kernel(5, 70, 1, 1, pad=(0, 0))}),
    "one output": ("conv2d", 4, (4, 4), {"kernel": kernel(1, 4, 3, 3)}),
    "one dimension": ("conv1d", 4, (30, 1), {"kernel": kernel(6, 4, 5, 1, pad=(2, 0))}),
    "flattened": ("linear", 12, (4, 4), {"kernel": kernel(10, 192, 1, 1), "flatten": True}),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_convolutions(name: str) -> None:
    operation, channels, size, what = PLAIN[name]
    step = layer(0, operation, (-1,), channels, size, **what)  # type: ignore[arg-type]
    found = estimate(replace(network(channels, size, step), device=MAX78000)).layers[0]
    assert found.cycles == walked(step)
    assert not found.rough


@known_answers.exist
@pytest.mark.parametrize(
    ("name", "cycles"),
    [  # what the formula of the manufacturer's tool gives for their sizes
        ("mnist", [48956, 16664, 4012, 332, 193]),
        ("mnist_extrasmall", [8188, 3352, 460, 193]),
        ("t_conv1d_wide", [1000]),
        ("t_eltwise_add", [720]),
        ("t_upsample_nonsq", [996]),
    ],
)
def test_known_cycles(name: str, cycles: list[int]) -> None:
    found = estimate(KnownAnswer(name).network)
    assert [step.cycles for step in found.layers] == cycles
    assert found.cycles == sum(cycles) + 1
    assert found.seconds == pytest.approx(found.cycles / 50e6)


def test_time_and_energy_follow_from_cycles() -> None:
    known = network(3, (8, 8), layer(0, "conv2d", (-1,), 3, (8, 8), kernel=kernel(4, 3, 3, 3)))
    found = estimate(known, hertz=1e6)
    (step,) = found.layers
    assert step.macs == found.macs == 4 * 3 * 9 * 64
    assert step.active == 3
    assert step.rough  # the MAX78002
    assert step.busy == pytest.approx(step.macs / (step.cycles * 64 * 9))
    document: dict[str, Any] = report.powered(found.as_json(), 0.01, 0.001)
    assert document["joules"] == document["layers"][0]["joules"] == pytest.approx(0.013 * step.cycles / 1e6)
    assert "joules" not in found.as_json()


def test_streaming_takes_half_as_long_again() -> None:
    step = layer(0, "conv2d", (-1,), 3, (8, 8), kernel=kernel(4, 3, 3, 3))
    plain = estimate(network(3, (8, 8), step)).layers[0]
    streaming = estimate(network(3, (8, 8), replace(step, streaming=True))).layers[0]
    assert streaming.rough
    assert streaming.cycles == -(-plain.cycles * 3 // 2)


@settings(max_examples=20, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(networks())
def test_every_network_has_an_estimate(drawn: Network) -> None:
    found = estimate(drawn)
    assert all(step.cycles > 0 for step in found.layers)
    assert all(0 <= step.busy <= 1 for step in found.layers)
