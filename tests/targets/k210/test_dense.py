"""Convolutions that the KPU cannot do go to the CPU where somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.graph import Graph
from buildtool.targets.k210.format.layer import LayerType
from buildtool.targets.k210.generation.generate import generate
from buildtool.targets.k210.generation.on_kpu import Settings
from tests.targets.k210.generating import SAME, Net, cosines, generated, prepared


def large_kernel() -> Graph:
    """One of 7x7 on 8x8 pixels, with a pool behind it."""
    net = Net(31)
    x = net.layer(net.layer(net.input(1, 8, 8, 3), 4), 6, 7)
    return net.finish(net.layer(net.pool(x), 5))


def dilated() -> Graph:
    """With gaps and a stride of 2, right behind the input; groups."""
    net = Net(32)
    x = net.layer(net.input(1, 10, 9, 3), 4, pads=(2, 2, 2, 2), dilations=(2, 2), strides=(2, 2))
    wide = net("conv2d", x, net.drawn(6, 5, 5, 2, fan=50), net.bias(6), groups=2, strides=(1, 1), pads=(2, 2, 2, 2),
               dilations=(1, 1))  # fmt: skip
    return net.finish(net.product(net.mean(net("relu", wide)), 7))


def depthwise() -> Graph:
    net = Net(33)
    x = net.layer(net.input(1, 8, 8, 3), 6)
    x = net("dwconv2d", x, net.drawn(5, 5, 6, fan=25), net.bias(6), **{**SAME, "pads": (2, 2, 2, 2)})
    return net.finish(net.layer(net("relu", x), 4, 1, act=""))


@pytest.mark.parametrize("net", [large_kernel, dilated, depthwise])
def test_the_cpu_does_what_the_kpu_cannot(net: Callable[[], Graph]) -> None:
    graph = prepared(net())
    made = generated(net(), Settings(fallback=True))
    assert LayerType.FC in [layer.TYPE for layer in made.model.layers]
    assert made.report.kpu_share < 1
    assert min(cosines(graph, made)) > 0.99


def test_the_fallback_is_named_where_the_kpu_sums_too_few_channels() -> None:
    net = Net(36)
    graph = prepared(net.finish(net.layer(net.layer(net.input(1, 8, 8, 3), 22), 5, 7)))
    with pytest.raises(UnsupportedError, match="or run it on the CPU: `--fallback cpu`"):
        generate(graph)


def test_layers_that_would_be_too_large_are_an_error() -> None:
    net = Net(34)
    graph = prepared(net.finish(net.layer(net.input(1, 32, 32, 24), 8, 7)))
    with pytest.raises(UnsupportedError) as caught:
        generate(graph, Settings(fallback=True))
    (problem,) = caught.value.problems
    assert "its kernel is 7x7, and a layer of the CPU would have 805306368 bytes of weights" in problem.what
    assert problem.rule.endswith("the CPU supports up to 2097152")
    with pytest.raises(UnsupportedError) as caught:
        generate(graph)
    assert "--fallback" not in str(caught.value)


def test_a_large_product_of_the_input_is_computed_on_the_cpu() -> None:
    """A vector comes in as floats. The product behind it is a convolution of the KPU."""
    net = Net(35)
    x = net("relu", net.product(net.input(1, 640), 128))
    graph = prepared(net.finish(net.product(x, 640)))
    made = generated(graph, Settings(product_bytes=1024))
    types = [layer.TYPE for layer in made.model.layers]
    assert types[0] is LayerType.FC
    assert LayerType.K210_CONV in types
    assert min(cosines(graph, made)) > 0.99
