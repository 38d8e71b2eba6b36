"""Channels that are made alike: nothing changes in single precision, and less is lost in 8 bits."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.quant.equalisation import equalise, pairs
from tests.passes.harness import CONV, Maker, random

SAME = CONV | {"pads": (1, 1, 1, 1)}
SPREAD = np.array([0.001, 30, 1, 0.02, 5, 0.3, 100, 2], np.float32)  # of the channels between two layers


def _network(middle: str = "", activation: str = "relu", groups: int = 1) -> Graph:
    make = Maker()
    x = make.input(1, 6, 6, 4)
    first = random(8, 3, 3, 4) * SPREAD[:, None, None, None]
    y = make("conv2d", x, make.constant(first), make.constant(random(8) * SPREAD), activation=activation, **SAME)
    y = make("dwconv2d", y, make.random(3, 3, 8), make.random(8), activation=activation, **SAME)
    y = make("conv2d", y, make.random(6, 1, 1, 8 // groups), make.random(6), groups=groups, **CONV)
    if middle == "pool":
        y = make("max_pool2d", y, **(CONV | {"kernel": (2, 2), "strides": (2, 2)}))
    y = make("reduce_mean", y, axes=(1, 2), keepdims=False)
    make.graph.outputs.append(make("fully_connected", y, make.random(5, 6)))
    return make.graph


def _run(graph: Graph, x: Array) -> Array:
    return np.asarray(evaluate(graph, {graph.inputs[0].name: x})[graph.outputs[0].name])


@pytest.mark.parametrize(
    ("middle", "activation", "groups"), [("", "relu", 1), ("pool", "leaky_relu", 1), ("", "none", 2)]
)
def test_single_precision_stays_the_same_to_the_bit(middle: str, activation: str, groups: int) -> None:
    graph = _network(middle, activation, groups)
    x = random(1, 6, 6, 4)
    before = _run(graph, x)
    assert [(pair.first.op.name, pair.second.op.name) for pair in pairs(graph)] == [
        ("conv2d", "dwconv2d"),
        ("dwconv2d", "conv2d"),
        ("conv2d", "fully_connected"),
    ]
    assert len(equalise(graph)) >= 2
    verify(graph)
    assert np.array_equal(_run(graph, x), before)
    assert not equalise(graph)


def test_channels_are_alike_afterwards() -> None:
    graph = _network()
    equalise(graph)
    weights = np.abs(np.asarray(graph.nodes[0].inputs[1].constant)).reshape(8, -1).max(axis=1)
    assert weights.max() / weights.min() < 1000  # they were 100,000 times apart


def test_values_that_clip_or_are_read_twice_are_not_equalised() -> None:
    make = Maker()
    x = make.input(1, 6, 6, 4)
    clipped = make("conv2d", x, make.random(8, 1, 1, 4), activation="clip", activation_beta=6.0, **CONV)
    twice = make("conv2d", clipped, make.random(8, 1, 1, 8), **CONV)
    once = make("conv2d", twice, make.random(8, 1, 1, 8), **CONV)
    added = make("conv2d", once, make.random(8, 1, 1, 8), make.random(8), twice, **CONV)
    make.graph.outputs.append(make("conv2d", added, make.random(3, 1, 1, 8), **CONV))
    found = [(graph_index(make.graph, pair.first), graph_index(make.graph, pair.second)) for pair in pairs(make.graph)]
    assert found == [(2, 3)]


def graph_index(graph: Graph, node: object) -> int:
    return next(index for index, other in enumerate(graph.nodes) if other is node)
