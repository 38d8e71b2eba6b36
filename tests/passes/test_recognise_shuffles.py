"""A channel shuffle is one gather, and none at all in front of convolutions."""

from __future__ import annotations

import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Value
from buildtool.passes.absorb_channel_orders import AbsorbChannelOrders
from buildtool.passes.recognise_shuffles import RecogniseShuffles
from tests.passes.harness import Maker, apply, ops


def _shuffled(make: Maker, x: Value, groups: int) -> Value:
    shape = x.type.shape
    assert isinstance(shape[3], int)
    parts = make("reshape", x, shape=(*shape[:3], groups, shape[3] // groups))
    return make("reshape", make("transpose", parts, perm=(0, 1, 2, 4, 3)), shape=shape)


@pytest.mark.parametrize("groups", [2, 3])
def test_a_shuffle(groups: int) -> None:
    make = Maker()
    height = symbol("height", 1, 8)
    graph = make.finish(_shuffled(make, make.input(1, height, 4, 12), groups))
    assert apply(graph, RecogniseShuffles, sizes=[{"height": 3}])
    assert ops(graph) == ["gather"]


def test_in_front_of_convolutions() -> None:
    make = Maker()
    x = _shuffled(make, make("relu", make.input(1, 3, 4, 6)), 2)
    graph = make.finish(make.conv(x, 4), make("fully_connected", x, make.random(5, 6)))
    assert apply(graph, RecogniseShuffles, AbsorbChannelOrders)
    assert sorted(ops(graph)) == ["conv2d", "fully_connected", "relu"]


def test_shuffles_with_other_readers_and_other_permutations_stay() -> None:
    make = Maker()
    x = make.input(1, 3, 4, 6)
    shuffled = _shuffled(make, x, 2)
    other = make("transpose", make("reshape", x, shape=(1, 3, 4, 2, 3)), perm=(0, 1, 4, 3, 2))
    graph = make.finish(make("relu", shuffled), make.conv(shuffled, 4), make("reshape", other, shape=(1, 3, 4, 6)))
    assert apply(graph, RecogniseShuffles)
    assert not apply(graph, AbsorbChannelOrders)
    assert ops(graph).count("transpose") == 1
