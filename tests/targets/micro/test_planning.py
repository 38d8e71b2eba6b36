"""Places in the arena: what lives at the same time overlaps only as far as kernels allow."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import planning
from buildtool.targets.micro.network import Conv, Network, Tensor, Window
from buildtool.targets.micro.planning import Overlap, overlap, plan
from tests.targets.micro.quantised_models import images, network_of, wide


@pytest.mark.parametrize("kernel_set", ["portable", "dsp", "mve"])
@pytest.mark.parametrize("make", [images, wide])
def test_places_are_apart_or_allowed(make: object, kernel_set: str, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(5), tmp_path)
    found = plan(network, kernel_set)
    spans = _spans(network)
    for a, b in itertools.combinations(found.offsets, 2):
        if spans[a][0] > spans[b][1] or spans[b][0] > spans[a][1]:
            continue
        start, end = found.offsets[a], found.offsets[b]
        if start + a.bytes <= end or end + b.bytes <= start:
            continue
        assert _allowed(network, a, b, start, end, kernel_set) or _allowed(network, b, a, end, start, kernel_set)
    assert found.size <= sum(tensor.bytes for tensor in found.offsets) + 8192


def _spans(network: Network) -> dict[Tensor, tuple[int, int]]:
    spans = {network.storage(tensor): (0, 0) for tensor in network.inputs}
    for step, layer in enumerate(network.layers):
        for tensor in layer.inputs:
            source = network.storage(tensor)
            spans[source] = (spans[source][0], step)
        spans[layer.output] = (step, step)
    for tensor in network.outputs:
        source = network.storage(tensor)
        spans[source] = (spans[source][0], len(network.layers))
    return spans


def _allowed(network: Network, output: Tensor, source: Tensor, at: int, other: int, kernel_set: str) -> bool:
    for layer in network.layers:
        if layer.output is output and source in [network.storage(tensor) for tensor in layer.inputs]:
            allowed = overlap(layer, source, kernel_set)
            return allowed is not None and (at == other if allowed.exact else at + allowed.lag <= other)
    return False


def test_a_convolution_writes_over_what_it_has_read() -> None:
    """With as many channels, a step of 1 and a border of 1 the output lags a row and a place behind."""
    x, y = Tensor("x", (1, 8, 8, 4)), Tensor("y", (1, 8, 8, 4))
    layer = Conv(
        name="c",
        inputs=(x,),
        output=y,
        window=Window((3, 3), (1, 1), (1, 1)),
        weights=np.ones((4, 3, 3, 4), np.int8),
        bias=np.zeros(4, np.int32),
        multipliers=(1 << 30,) * 4,
        shifts=(-4,) * 4,
    )
    allowed = overlap(layer, x, "dsp")
    assert allowed == Overlap((8 + 1) * 4)
    assert planning.plan(Network("n", (x,), (y,), (layer,)), "dsp").size < x.bytes + y.bytes + 700
