"""Factors per channel go into the weights before them."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.passes.fold_scales import FoldScales
from buildtool.passes.fuse_biases import FuseBiases
from tests.passes.harness import Maker, apply, ops
from tests.passes.layers import BIAS, LAYERS, Layer, check_folded, conv_layer


@LAYERS
@BIAS
@pytest.mark.parametrize("op", ["mul", "div"])
@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 1, 4)])
def test_scales(layer: Layer, bias: bool, op: str, shape: tuple[int, ...]) -> None:
    make = Maker()
    graph = make.finish(make(op, layer(make, bias), make.random(*shape, low=0.5)))
    assert apply(graph, FoldScales)
    check_folded(graph, f"{op}_1:0")


def test_the_constant_may_stand_first() -> None:
    make = Maker()
    graph = make.finish(make("add", make.random(4), make("mul", make.random(4), conv_layer(make, True))))
    assert apply(graph, FoldScales, FuseBiases)
    assert ops(graph) == ["conv2d"]


def test_constants_that_a_layer_divides_or_is_subtracted_from_stay() -> None:
    make = Maker()
    graph = make.finish(make("div", make.random(4, low=0.5), make("sub", make.random(4), conv_layer(make, True))))
    assert not apply(graph, FoldScales, FuseBiases)


@pytest.mark.parametrize("shape", [(5, 4), (3, 1, 4), (2, 1, 1, 1)])
def test_numbers_that_are_not_per_channel_stay(shape: tuple[int, ...]) -> None:
    make = Maker()
    layer = make.conv(make.input(1, 5, 7, 3), 4)  # 3 x 5 x 4
    graph = make.finish(make("add", make("mul", layer, make.random(*shape)), make.random(*shape)))
    assert not apply(graph, FoldScales, FuseBiases)


def test_a_division_by_zero_stays() -> None:
    make = Maker()
    graph = make.finish(make("div", conv_layer(make, True), make.constant(np.array([1, 0, 1, 1]))))
    assert not FoldScales().run(graph)
