"""Reshapes that meet each other behind functions of single elements; reductions that need none."""

from __future__ import annotations

from buildtool.passes.merge_reductions import MergeReductions
from buildtool.passes.merge_reshapes import MergeReshapes
from buildtool.passes.remove_dead_code import RemoveDeadCode
from buildtool.passes.sink_reshapes import SinkReshapes
from tests.passes.harness import Maker, apply, ops


def test_a_gate_of_fully_connected_layers() -> None:
    make = Maker()
    x = make.input(2, 5, 4, 6)
    pooled = make("reduce_mean", x, axes=(1, 2), keepdims=True)
    flat = make("reshape", pooled, shape=(2, 6))
    hidden = make("fully_connected", flat, make.random(3, 6), make.random(3), activation="relu")
    gate = make("sigmoid", make("fully_connected", hidden, make.random(6, 3)))
    graph = make.finish(make("mul", x, make("reshape", gate, shape=(2, 1, 1, 6))))
    assert apply(graph, SinkReshapes, MergeReshapes)
    assert ops(graph).count("reshape") == 1
    assert apply(graph, RemoveDeadCode) is False


def test_a_reshape_that_meets_none_stays() -> None:
    make = Maker()
    x = make("reshape", make.input(2, 6), shape=(3, 4))
    graph = make.finish(make("relu", x), make("reshape", make("add", x, make.random(4)), shape=(12,)))
    assert not apply(graph, SinkReshapes)


def test_reductions_keep_or_drop_their_axes() -> None:
    for keep in (False, True):
        make = Maker()
        x = make("reduce_mean", make.input(2, 5, 4, 6), axes=(1, 2), keepdims=keep)
        graph = make.finish(make("reshape", x, shape=(2, 6) if keep else (2, 1, 1, 6)))
        assert apply(graph, MergeReductions)
        assert ops(graph) == ["reduce_mean"]
    make = Maker()
    x = make("reduce_mean", make.input(2, 5, 4, 6), axes=(1, 2), keepdims=True)
    assert not apply(make.finish(make("reshape", x, shape=(12,))), MergeReductions)
