"""The same work is done once."""

from __future__ import annotations

from buildtool.passes.share_common import ShareCommon
from tests.passes.harness import Maker, apply, names, ops


def test_equal_nodes_become_one() -> None:
    make = Maker()
    x = make.input(2, 3)
    twins = [make("exp", make("transpose", x, perm=(1, 0))) for _ in range(2)]
    graph = make.finish(make("sub", *twins))
    assert apply(graph, ShareCommon)
    assert ops(graph) == ["transpose", "exp", "sub"]
    assert {"exp_1:0", "exp_3:0"} <= names(graph)


def test_other_attributes_or_other_inputs_are_other_work() -> None:
    make = Maker()
    x, y = make.input(3), make.input(3)
    parts = [make("elu", x, alpha=0.5), make("elu", x, alpha=0.25), make("elu", y, alpha=0.5)]
    graph = make.finish(make("concat", *parts, axis=0))
    assert not apply(graph, ShareCommon)


def test_two_outputs_stay_two_values() -> None:
    make = Maker()
    x = make.input(3)
    graph = make.finish(make("exp", x), make("exp", x))
    assert not apply(graph, ShareCommon)


def test_an_output_keeps_its_name() -> None:
    make = Maker()
    x = make.input(3)
    first, second = make("exp", x), make("exp", x)
    graph = make.finish(make("neg", first), second)
    assert apply(graph, ShareCommon)
    assert [value.name for value in graph.outputs] == ["out0", "out1"]
