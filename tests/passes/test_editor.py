"""The editor of graphs: the time of an edit does not depend on the number of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from buildtool.ir.graph import Graph, Node
from buildtool.passes import editor, pipeline
from buildtool.passes.fuse_activations import FuseActivations
from tests.plan.graphs import add_input, apply, make


class Counting(list[Node]):
    """Nodes that count how often all of them are searched."""

    searches = 0

    def index(self, *arguments: Any) -> int:
        self.searches += 1
        return super().index(*arguments)


def test_fusing_a_long_chain_searches_next_to_the_last_edit() -> None:
    graph = Graph(name="chain")
    x = value = add_input(graph, "x", (1, 8))
    for _ in range(500):
        value = apply(graph, make("relu"), apply(graph, make("add"), value, x))
    graph.outputs.append(value)
    nodes = graph.nodes = Counting(graph.nodes)
    assert FuseActivations().run(graph)
    assert [node.op.name for node in graph.nodes] == ["add"] * 500
    made = [graph.inputs[0], *(node.outputs[0] for node in graph.nodes)]
    assert all(node.inputs[0] is before for node, before in zip(graph.nodes, made, strict=False))
    assert nodes.searches <= 2


def test_editors_of_an_unchanged_graph_share_what_they_know() -> None:
    graph = Graph(name="kept")
    x = add_input(graph, "x", (1, 8))
    y = apply(graph, make("relu"), x)
    graph.outputs.append(apply(graph, make("sigmoid"), y))
    with editor.keeping(graph):
        first = editor.Editor(graph)
        assert editor.Editor(graph)._readers is first._readers
        changed = editor.Editor(graph)
        changed.insert_before(graph.nodes[0], make("tanh"), [x])
        after = editor.Editor(graph)
        assert after._readers is not first._readers
        assert not after.changed
        assert len(after.readers(x)) == 2
        graph.remove_nodes(lambda node: node.op.name == "tanh")
        editor.forget(graph)
        assert len(editor.Editor(graph).readers(x)) == 1
    assert editor.Editor(graph)._readers is not editor.Editor(graph)._readers


def test_a_graph_that_a_pass_left_alone_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline has some 45 passes, most of which find nothing in most graphs."""
    looked = []
    look_at = editor.Editor._look_at

    def counting(self: editor.Editor, graph: Graph) -> None:
        looked.append(graph)
        look_at(self, graph)

    monkeypatch.setattr(editor.Editor, "_look_at", counting)
    graph = Graph(name="chain")
    value = x = add_input(graph, "x", (1, 8))
    for _ in range(4):
        value = apply(graph, make("sigmoid"), apply(graph, make("mul"), value, x))
    graph.outputs.append(value)
    runs = pipeline.optimise(graph)
    assert not any(run.modified for run in runs)
    assert len(runs) > 40
    assert len(looked) == 1
