"""Large and dilated kernels: the CPU lays the picture out as each tap sees it, and the KPU does the rest, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.graph import Graph
from buildtool.targets.k210.format.layer import LayerType
from buildtool.targets.k210.generation.generate import generate
from buildtool.targets.k210.simulation.simulator import simulate
from tests.targets.k210.generating import SAME, Net, cosines, generated, prepared


def large(size: int, **attributes: Any) -> Callable[[], Graph]:
    def made() -> Graph:
        net = Net(size)
        return net.finish(net.layer(net.layer(net.layer(net.input(1, 12, 10, 3), 5), 6, size, **attributes), 4))

    return made


def depthwise() -> Graph:
    net = Net(33)
    x = net.layer(net.input(1, 12, 12, 3), 6)
    x = net("dwconv2d", x, net.drawn(5, 5, 6, fan=25), net.bias(6), **{**SAME, "pads": (2, 2, 2, 2)})
    return net.finish(net.layer(net("relu", x), 4, 1, act=""))


def first_of_all() -> Graph:
    """Dilated, with a stride, right behind the input; a pool behind a large one; groups."""
    net = Net(35)
    x = net.layer(net.input(1, 16, 14, 3), 4, pads=(2, 2, 2, 2), dilations=(2, 2), strides=(2, 2))
    x = net.pool(net.layer(x, 6, 5))
    wide = net("conv2d", x, net.drawn(6, 3, 3, 3, fan=27), net.bias(6), groups=2, strides=(1, 1), pads=(2, 2, 2, 2),
               dilations=(2, 2))  # fmt: skip
    return net.finish(net.product(net.mean(net("relu", wide)), 7))


GRAPHS: dict[str, Callable[[], Graph]] = {
    "5x5": large(5),
    "7x7": large(7),
    "5x5 without padding": large(5, pads=(0, 0, 0, 0)),
    "5x5, stride 2": large(5, strides=(2, 2)),
    "3x3, dilation 2": large(3, pads=(2, 2, 2, 2), dilations=(2, 2)),
    "3x3, dilations 3 and 1": large(3, pads=(3, 1, 3, 1), dilations=(3, 1)),
    "5x5, uneven padding": large(5, pads=(1, 2, 3, 0)),
    "depthwise 5x5": depthwise,
    "first of all": first_of_all,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_large_and_dilated_kernels_are_of_the_kpu(name: str) -> None:
    graph = prepared(GRAPHS[name]())
    made = generated(GRAPHS[name]())
    assert made.report.kpu_share > 0.95
    assert LayerType.Q_MAXPOOL in [layer.TYPE for layer in made.model.layers]
    assert min(cosines(graph, made)) > (0.995 if name != "depthwise 5x5" else 0.97)


@pytest.mark.parametrize("alone", [False, True], ids=["dense", "depthwise"])
def test_a_large_kernel_with_zeros_around_is_the_small_one_to_the_last_bit(alone: bool) -> None:
    """The same numbers come out of the detour as of a 3x3 layer of the KPU."""
    results = []
    for size in (3, 5):
        net = Net(1)
        x = net.input(1, 12, 10, 6)
        small = net.rng.normal(0, 0.3, (3, 3, 6) if alone else (6, 3, 3, 6))
        edge = ((size - 3) // 2,) * 2
        weights = np.pad(small, (edge, edge, (0, 0)) if alone else ((0, 0), edge, edge, (0, 0)))
        kind = "dwconv2d" if alone else "conv2d"
        y = net(kind, x, net.constant(weights), net.bias(6), **{**SAME, "pads": (size // 2,) * 4})
        made = generate(prepared(net.finish(net("relu", y))))
        picture = np.random.default_rng(5).integers(0, 256, made.model.input_bytes).astype(np.uint8)
        results.append(simulate(made.model, picture.tobytes()))
    assert results[0] == results[1]


def test_more_channels_than_the_kpu_sums_are_refused() -> None:
    net = Net(2)
    with pytest.raises(UnsupportedError) as caught:
        generate(prepared(net.finish(net.layer(net.layer(net.input(1, 16, 16, 3), 42), 4, 5))))
    assert "its kernel is 5x5" in str(caught.value)
