"""A 1x1 convolution and the depthwise convolution that makes its result smaller."""

from __future__ import annotations

import pytest

from buildtool.ir.dims import symbol
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.fuse_expansions import FuseExpansions
from buildtool.passes.fuse_separable_convolutions import FuseSeparableConvolutions
from tests.passes.harness import Maker, apply, ops
from tests.passes.layers import depthwise


@pytest.mark.parametrize("bias", [False, True])
def test_a_pair(bias: bool) -> None:
    make = Maker()
    height = symbol("height", 56, 70)
    x = make.input(1, height, 61, 5)
    between = make("clip", make.conv(x, 33, 1, bias), low=0.0, high=6.0)
    graph = make.finish(make("relu", depthwise(make, between, bias=bias, strides=(2, 2))))
    assert apply(graph, FuseActivations, FuseExpansions, sizes=[{"height": 57}, {"height": 70}])
    assert ops(graph) == ["pointwise_dwconv2d"]
    assert not apply(graph, FuseExpansions, sizes=())


def test_an_inverted_residual() -> None:
    make = Maker()
    x = make.input(1, 60, 60, 8)
    graph = make.finish(make.conv(depthwise(make, make.conv(x, 32, 1), strides=(2, 2)), 12, 1))
    assert apply(graph, FuseExpansions, FuseSeparableConvolutions)
    assert ops(graph) == ["pointwise_dwconv2d", "conv2d"]


def test_convolutions_that_gain_nothing_or_are_read_twice_are_not_fused() -> None:
    make = Maker()
    x = make.input(1, 60, 60, 32)
    read_twice = make.conv(x, 32, 1)
    kept = [
        depthwise(make, make.conv(x, 32, 1)),  # as large as before
        depthwise(make, make.conv(make.input(1, 40, 99, 32), 32, 1), strides=(2, 2)),
        depthwise(make, make.conv(x, 16, 1), strides=(2, 2)),
        depthwise(make, make.conv(x, 32, 3), strides=(2, 2)),
        depthwise(make, make("conv2d", x, make.random(32, 1, 1, 32), make.random(32), x), strides=(2, 2)),
        depthwise(make, read_twice, strides=(2, 2)),
        read_twice,
    ]
    assert not apply(make.finish(*kept), FuseExpansions)
