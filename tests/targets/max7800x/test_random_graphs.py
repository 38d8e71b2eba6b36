"""Random models: what has layers for everything fits or says why not, comes near, and the machine computes the same."""

from __future__ import annotations

import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.graph import Graph, Value
from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from buildtool.targets.max7800x.lowering.lower import lower
from tests.targets.k210.generating import pictures, prepared
from tests.targets.k210.test_random_networks import RandomNet
from tests.targets.max7800x.graphs import assert_machine_agrees, nearness

LEAST = 0.9  # layers of random weights lose more than trained ones


class RandomModel(RandomNet):
    """Of layers that the accelerator knows."""

    def spatial(self, x: Value) -> Value:
        pads = self.one_of(((1, 1, 1, 1), (0, 0, 1, 1), (0, 0, 0, 0), (2, 2, 2, 2)))
        kernel, strides = self.one_of((2, 3)), self.one_of(((1, 1), (2, 2)))
        return self.layer(x, self.number(1, 40), kernel, self.one_of(("relu", "", "abs")), strides=strides, pads=pads)

    def depthwise_layer(self, x: Value) -> Value:
        stride = self.one_of((1, 2))
        return self.depthwise(x, self.one_of(("relu", "")), strides=(stride, stride))

    def pooled(self, x: Value) -> Value:
        size = self.number(2, 4)
        stride = self.one_of((1, 2, size))
        return self.pool(x, size, self.one_of(("max_pool2d", "avg_pool2d")), strides=(stride, stride))

    def resized(self, x: Value) -> Value:
        return self("relu", x)

    def applied(self, x: Value) -> Value:
        return self(self.one_of(("abs", "relu")), x)


def drawn(seed: int) -> Graph:
    net = RandomModel(seed)
    while len(net.there) < 3:
        net.grow()
    for _ in range(net.number(0, 5)):
        net.grow()
    return net.done()


def compare(seed: int, *, near: bool) -> bool:
    """Whether there was something to compare."""
    graph = prepared(drawn(seed))
    try:
        lowered = lower(graph, MAX78002 if seed % 3 == 2 else MAX78000)
    except UnsupportedError as error:
        assert all(problem.rule and problem.remedy for problem in error.problems)
        return False
    (picture,) = pictures(graph, 1, seed=5)[0].values()
    assert_machine_agrees(lowered, picture)
    if near:
        assert min(nearness(graph, lowered, 2)) >= LEAST
    return True


def test_random_models() -> None:
    assert sum(compare(seed, near=True) for seed in range(12)) >= 5


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100, 250))
def test_many_random_models(seed: int) -> None:
    """Some of them make numbers below a step of their outputs: how near they come says nothing then."""
    compare(seed, near=False)
