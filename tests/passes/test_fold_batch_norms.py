"""Batch normalisation goes into the weights before it."""

from __future__ import annotations

import numpy as np

from buildtool.passes.fold_batch_norms import FoldBatchNorms
from buildtool.passes.fold_scales import FoldScales
from buildtool.passes.fuse_biases import FuseBiases
from tests.passes.harness import CONV, Maker, apply, ops
from tests.passes.layers import BIAS, LAYERS, Layer, check_folded, conv_layer, norm


@LAYERS
@BIAS
def test_batch_norms(layer: Layer, bias: bool) -> None:
    make = Maker()
    graph = make.finish(norm(make, layer(make, bias)))
    assert apply(graph, FoldBatchNorms)
    check_folded(graph, "batch_norm_1:0")


def test_a_layer_whose_result_others_read_stays() -> None:
    make = Maker()
    layer = conv_layer(make, True)
    graph = make.finish(norm(make, layer), make("relu", layer))
    assert not apply(graph, FoldBatchNorms)


def test_a_layer_that_is_an_output_stays() -> None:
    make = Maker()
    layer = conv_layer(make, True)
    assert not apply(make.finish(norm(make, layer), layer), FoldBatchNorms, FoldScales)


def test_an_activation_in_between_is_in_the_way() -> None:
    make = Maker()
    layer = make("conv2d", make.input(1, 5, 6, 3), make.random(4, 3, 3, 3), **CONV, activation="relu")
    graph = make.finish(make("add", norm(make, layer), make.random(4)))
    assert not apply(graph, FoldBatchNorms, FuseBiases)


def test_weights_that_are_not_constant_stay() -> None:
    make = Maker()
    layer = make("conv2d", make.input(1, 5, 6, 3), make.input(4, 3, 3, 3), **CONV)
    assert not apply(make.finish(norm(make, layer)), FoldBatchNorms)


def test_a_variance_that_gives_no_number_is_not_spread() -> None:
    make = Maker()
    variance = make.constant(np.array([1, 1, -1, 1]))
    layer, numbers = conv_layer(make, True), [make.random(4) for _ in range(3)]
    graph = make.finish(make("batch_norm", layer, *numbers, variance, epsilon=1e-3))
    assert not FoldBatchNorms().run(graph)


def test_a_layer_shared_by_its_weights_keeps_them_for_the_other() -> None:
    make = Maker()
    weights = make.random(4, 1, 1, 3)
    first = make("conv2d", make.input(1, 5, 6, 3), weights, **CONV)
    second = make("conv2d", make.input(1, 5, 6, 3), weights, **CONV)
    graph = make.finish(make("add", norm(make, first), second))
    assert apply(graph, FoldBatchNorms)
    assert ops(graph) == ["conv2d", "conv2d", "add"] or ops(graph) == ["conv2d", "add", "conv2d"]
