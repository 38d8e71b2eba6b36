"""Terms per channel go into the bias of the layer before them."""

from __future__ import annotations

import pytest

from buildtool.passes.fuse_biases import FuseBiases
from tests.passes.harness import Maker, apply
from tests.passes.layers import BIAS, LAYERS, Layer, check_folded


@LAYERS
@BIAS
@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("shape", [(), (4,), (1, 4), (1, 1, 4)])
def test_biases(layer: Layer, bias: bool, op: str, shape: tuple[int, ...]) -> None:
    make = Maker()
    graph = make.finish(make(op, layer(make, bias), make.random(*shape)))
    assert apply(graph, FuseBiases)
    check_folded(graph, f"{op}_1:0")


def test_a_sum_with_an_activation_stays() -> None:
    make = Maker()
    layer = make.conv(make.input(1, 5, 6, 3), 4)
    graph = make.finish(make("add", layer, make.random(4), activation="relu"))
    assert not apply(graph, FuseBiases)


def test_a_number_that_is_subtracted_from_stays() -> None:
    make = Maker()
    graph = make.finish(make("sub", make.random(4), make.conv(make.input(1, 5, 6, 3), 4)))
    assert not apply(graph, FuseBiases)
