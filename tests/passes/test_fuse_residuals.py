"""The sum of two branches is computed by the convolution at the end of one of them."""

from __future__ import annotations

import pytest

from buildtool.ir.dims import symbol
from buildtool.passes.fold_scales import FoldScales
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.fuse_residuals import FuseResiduals
from tests.passes.harness import Maker, apply, ops


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_residual_block(bias: bool, turned: bool) -> None:
    make = Maker()
    height = symbol("height", 2, 9)
    x = make.input(1, height, 6, 3)
    made = make.conv(make("relu", make.conv(x, 3, 1)), 3, 1, bias)
    graph = make.finish(make("relu", make("add", *((x, made) if turned else (made, x)))))
    assert apply(graph, FuseResiduals, FuseActivations, sizes=[{"height": 2}, {"height": 7}])
    assert ops(graph) == ["conv2d", "conv2d"]
    assert len(graph.nodes[1].inputs) == 4


def test_two_convolutions() -> None:
    make = Maker()
    x = make.input(1, 5, 6, 3)
    graph = make.finish(make("add", make.conv(x, 4), make.conv(x, 4), activation="relu"))
    assert apply(graph, FuseResiduals)
    assert ops(graph) == ["conv2d", "conv2d"]
    assert not apply(graph, FuseResiduals, FuseActivations)


def test_sums_that_are_no_residual_of_a_convolution_stay() -> None:
    make = Maker()
    x = make.input(1, 5, 6, 3)
    one, other = make.conv(x, 3, 1), make.conv(x, 3, 1)
    constant = make("add", make.conv(x, 3, 1), make.random(1, 5, 6, 3))
    broadcast = make("add", make.conv(x, 3, 1), make("reduce_mean", x, axes=(1, 2), keepdims=True))
    activated = make("add", make("relu", make.conv(x, 3, 1)), x)
    kept = [make("add", one, one), make("add", other, x), other, constant, broadcast, activated]
    assert not apply(make.finish(*kept), FuseResiduals)


def test_nothing_is_folded_into_a_convolution_with_a_residual() -> None:
    make = Maker()
    x = make.input(1, 5, 6, 3)
    graph = make.finish(make("mul", make("add", make.conv(x, 3, 1), x), make.random(3)))
    assert apply(graph, FuseResiduals)
    assert not apply(graph, FoldScales)
