"""Nodes that only hold a region for another machine, opened up."""

from __future__ import annotations

from collections.abc import Mapping

from buildtool.ir.graph import Graph, Node, Value


def flatten(graph: Graph, operator: str) -> None:
    """Puts the nodes of the regions of this operator's nodes in the place of those.

    Such a node has no inputs of its own, runs its region once, and gives what the region gives: that then is made by
    the nodes of the region, under the names that it has around it.
    """
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op.name != operator:
            nodes.append(node)
            continue
        (region,) = node.regions
        names = dict(zip(region.outputs, node.outputs, strict=True))
        for inner in region.nodes:
            _rename(inner, names)
        nodes += region.nodes
    graph.nodes = nodes


def _rename(node: Node, names: Mapping[Value, Value]) -> None:
    node.inputs = [names.get(value, value) for value in node.inputs]
    node.outputs = [names.get(value, value) for value in node.outputs]
    for region in node.regions:
        region.outputs = [names.get(value, value) for value in region.outputs]
        for inner in region.nodes:
            _rename(inner, names)
