"""A depthwise convolution and the 1x1 convolution behind it, where doing both at once pays."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.fuse_residuals import FuseResiduals
from buildtool.passes.fuse_separable_convolutions import FuseSeparableConvolutions
from buildtool.passes.pipeline import LOWERING, lower, optimise
from tests.passes.harness import Maker, apply, ops
from tests.passes.layers import depthwise


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2)])
def test_a_pair(bias: bool, strides: tuple[int, int]) -> None:
    make = Maker()
    x = make.input(1, 94, 95, 33)
    between = make("clip", depthwise(make, x, bias=bias, strides=strides), low=0.0, high=6.0)
    graph = make.finish(make("relu", make.conv(between, 8, 1, bias)))
    assert apply(graph, FuseActivations, FuseSeparableConvolutions)
    assert ops(graph) == ["separable_conv2d"]
    assert len(graph.nodes[0].inputs) == 5
    assert not apply(graph, FuseSeparableConvolutions)


def test_with_a_residual_and_a_height_that_varies() -> None:
    make = Maker()
    height = symbol("height", 20, 90)
    x = make.input(1, height, 31, 32)
    graph = make.finish(make("add", make.conv(depthwise(make, x), 32, 1), x))
    assert apply(graph, FuseResiduals, FuseSeparableConvolutions, sizes=[{"height": 20}, {"height": 33}])
    assert ops(graph) == ["separable_conv2d"]
    assert len(graph.nodes[0].inputs) == 6


def test_convolutions_that_gain_nothing_or_do_not_match_are_not_fused() -> None:
    make = Maker()
    x = make.input(1, 50, 50, 40)
    small = make.input(1, 20, 20, 40)
    low = make.input(1, 4, 900, 40)
    read_twice = depthwise(make, x)
    kept = [
        make.conv(depthwise(make, small), 40, 1),
        make.conv(depthwise(make, low), 40, 1),
        make.conv(depthwise(make, make.input(1, 28, 28, 256)), 256, 1),
        make.conv(depthwise(make, make.input(1, 27, 99, 40)), 40, 1),
        make.conv(depthwise(make, x, dilations=(2, 2)), 40, 1),
        make.conv(depthwise(make, x, multiplier=2), 40, 1),
        make.conv(depthwise(make, x, kernel=5), 40, 1),
        make.conv(depthwise(make, x), 40, 3),
        make.conv(read_twice, 40, 1),
        read_twice,
        make("conv2d", depthwise(make, x), make.random(40, 1, 1, 40), strides=(2, 2), pads=(0,) * 4, dilations=(1, 1)),
        # Together they would need more memory: what goes in and what comes out are larger than what is between.
        make.conv(depthwise(make, make.input(1, 94, 94, 33), strides=(2, 2)), 80, 1),
    ]
    assert not apply(make.finish(*kept), FuseSeparableConvolutions)


def test_only_where_it_is_asked_for() -> None:
    make = Maker()
    graph = make.finish(make.conv(depthwise(make, make.input(1, 64, 64, 32)), 16, 1))
    optimise(graph)
    assert ops(graph) == ["dwconv2d", "conv2d"]
    wanted = [kind.name for kind in LOWERING]
    assert ops(lower(graph, [])) == ops(lower(graph, wanted, ["fuse_activations"])) == ["dwconv2d", "conv2d"]
    assert ops(lower(graph, wanted)) == ops(lower(graph, wanted, wanted)) == ["separable_conv2d"]
    assert ops(graph) == ["dwconv2d", "conv2d"]
    assert np.prod(graph.outputs[0].type.shape) == 64 * 64 * 16  # type: ignore[arg-type]
