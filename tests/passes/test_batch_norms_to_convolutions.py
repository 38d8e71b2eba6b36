"""A batch normalisation behind something that is no layer becomes a depthwise convolution."""

from __future__ import annotations

from buildtool.passes.batch_norms_to_convolutions import BatchNormsToConvolutions
from buildtool.passes.fuse_activations import FuseActivations
from tests.passes.harness import Maker, apply, ops
from tests.passes.layers import norm


def test_the_convolution_takes_the_activation_that_follows() -> None:
    make = Maker()
    graph = make.finish(make("relu", norm(make, make("abs", make.input(1, 3, 5, 4)))))
    assert apply(graph, BatchNormsToConvolutions, FuseActivations)
    assert ops(graph) == ["abs", "dwconv2d"]


def test_other_ranks_and_computed_numbers_stay() -> None:
    make = Maker()
    x, scale = make.input(1, 3, 5, 4), make.input(4)
    computed = make("batch_norm", x, scale, *(make.random(4, low=0.1) for _ in range(3)), epsilon=1e-3)
    graph = make.finish(norm(make, make.input(3, 4)), computed)
    assert not apply(graph, BatchNormsToConvolutions)
