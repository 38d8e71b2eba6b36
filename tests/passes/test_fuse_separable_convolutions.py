"""A depthwise convolution and the 1x1 convolution behind it, where doing both at once pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Value
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.fuse_residuals import FuseResiduals
from buildtool.passes.fuse_separable_convolutions import FuseSeparableConvolutions
from buildtool.passes.pipeline import LOWERING, lower, optimise
from tests.passes.harness import Maker, apply, ops

_SAME = {"strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1)}


def _depthwise(make: Maker, x: Value, kernel: int = 3, bias: bool = True, **attributes: Any) -> Value:
    channels = x.type.shape[-1]
    assert isinstance(channels, int)
    multiplier = attributes.get("multiplier", 1)
    rest = [make.random(channels * multiplier)] if bias else []
    return make("dwconv2d", x, make.random(kernel, kernel, channels * multiplier), *rest, **{**_SAME, **attributes})


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2)])
def test_a_pair(bias: bool, strides: tuple[int, int]) -> None:
    make = Maker()
    x = make.input(1, 94, 95, 33)
    between = make("clip", _depthwise(make, x, bias=bias, strides=strides), low=0.0, high=6.0)
    graph = make.finish(make("relu", make.conv(between, 8, 1, bias)))
    assert apply(graph, FuseActivations, FuseSeparableConvolutions)
    assert ops(graph) == ["separable_conv2d"]
    assert len(graph.nodes[0].inputs) == 5
    assert not apply(graph, FuseSeparableConvolutions)


def test_with_a_residual_and_a_height_that_varies() -> None:
    make = Maker()
    height = symbol("height", 20, 90)
    x = make.input(1, height, 31, 32)
    graph = make.finish(make("add", make.conv(_depthwise(make, x), 32, 1), x))
    assert apply(graph, FuseResiduals, FuseSeparableConvolutions, sizes=[{"height": 20}, {"height": 33}])
    assert ops(graph) == ["separable_conv2d"]
    assert len(graph.nodes[0].inputs) == 6


def test_what_stays() -> None:
    make = Maker()
    x = make.input(1, 50, 50, 40)
    small = make.input(1, 20, 20, 40)
    low = make.input(1, 4, 900, 40)
    read_twice = _depthwise(make, x)
    kept = [
        make.conv(_depthwise(make, small), 40, 1),
        make.conv(_depthwise(make, low), 40, 1),
        make.conv(_depthwise(make, x, dilations=(2, 2)), 40, 1),
        make.conv(_depthwise(make, x, multiplier=2), 40, 1),
        make.conv(_depthwise(make, x, kernel=5), 40, 1),
        make.conv(_depthwise(make, x), 40, 3),
        make.conv(read_twice, 40, 1),
        read_twice,
        make("conv2d", _depthwise(make, x), make.random(40, 1, 1, 40), strides=(2, 2), pads=(0,) * 4, dilations=(1, 1)),
        # Together they would need more memory: what goes in and what comes out are larger than what is between.
        make.conv(_depthwise(make, make.input(1, 94, 94, 33), strides=(2, 2)), 80, 1),
    ]
    assert not apply(make.finish(*kept), FuseSeparableConvolutions)


def test_only_where_it_is_asked_for() -> None:
    make = Maker()
    graph = make.finish(make.conv(_depthwise(make, make.input(1, 64, 64, 32)), 16, 1))
    optimise(graph)
    assert ops(graph) == ["dwconv2d", "conv2d"]
    wanted = [kind.name for kind in LOWERING]
    assert ops(lower(graph, [])) == ops(lower(graph, wanted, ["fuse_activations"])) == ["dwconv2d", "conv2d"]
    assert ops(lower(graph, wanted)) == ops(lower(graph, wanted, wanted)) == ["separable_conv2d"]
    assert ops(graph) == ["dwconv2d", "conv2d"]
    assert np.prod(graph.outputs[0].type.shape) == 64 * 64 * 16
