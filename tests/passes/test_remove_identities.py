"""Identities go, but outputs keep values and names of their own."""

from __future__ import annotations

from buildtool.passes.remove_identities import RemoveIdentities
from tests.passes.harness import Maker, apply, names, ops


def test_names_move_to_the_value_before() -> None:
    make = Maker()
    graph = make.finish(make("relu", make("identity", make("identity", make("neg", make.input(3))))))
    assert apply(graph, RemoveIdentities)
    assert ops(graph) == ["neg", "relu"]
    assert {"identity_1:0", "identity_2:0"} <= names(graph)


def test_an_output_takes_its_name_along() -> None:
    make = Maker()
    graph = make.finish(make("identity", make("neg", make.input(3))))
    assert apply(graph, RemoveIdentities)
    assert ops(graph) == ["neg"]
    assert graph.outputs[0].name == "out0"


def test_one_stays_where_an_output_is_an_input_a_constant_or_another_output() -> None:
    make = Maker()
    x = make.input(3)
    y = make("neg", x)
    graph = make.finish(make("identity", x), y, make("identity", y), make("identity", make.random(2)))
    assert not apply(graph, RemoveIdentities)
    assert ops(graph) == ["neg", "identity", "identity", "identity"]
