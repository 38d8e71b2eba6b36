"""The editor of graphs: the time of an edit does not depend on the number of nodes."""

from __future__ import annotations

from typing import Any

from buildtool.ir.graph import Graph, Node
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
