"""Nodes that nobody reads go; what outputs depend on stays."""

from __future__ import annotations

from buildtool.passes.remove_dead_code import RemoveDeadCode
from tests.passes.harness import Maker, apply, ops


def test_a_chain_that_leads_nowhere_goes() -> None:
    make = Maker()
    x = make.input(2, 3)
    make("relu", make("neg", x))
    graph = make.finish(make("exp", x))
    assert apply(graph, RemoveDeadCode)
    assert ops(graph) == ["exp"]


def test_a_split_of_which_one_output_is_read_stays() -> None:
    make = Maker()
    graph = make.finish(make.all("split", make.input(2, 4), axis=1, sizes=(1, 3))[1])
    assert not apply(graph, RemoveDeadCode)
    assert ops(graph) == ["split"]
