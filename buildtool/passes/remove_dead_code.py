"""Removes nodes that no output depends on."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ir.dims import Symbol
from buildtool.ir.graph import Graph, Node, Value
from buildtool.passes.base import Pass


class RemoveDeadCode(Pass):
    name = "remove_dead_code"
    summary = "remove nodes whose results are not used"

    def run(self, graph: Graph) -> bool:
        live = _live(graph)
        return graph.remove_nodes(lambda node: not live.intersection(node.outputs)) > 0

    def ensures(self, graph: Graph) -> Iterator[str]:
        live = _live(graph)
        for node in graph.walk():
            if not live.intersection(node.outputs):
                yield f"the results of {node!r} are not used"


def _live(graph: Graph) -> set[Value]:
    """The values that outputs depend on. What a region reads is read by the node that holds it.

    A size that only the data decides is also read by dimensions, of types and of attributes.
    """
    live = set(graph.outputs)
    sizes: set[Symbol] = set()

    def reach(nodes: list[Node]) -> None:
        for node in reversed(nodes):
            if sizes.intersection(node.op.defined_symbols()):
                live.update(node.outputs)
            if live.intersection(node.outputs):
                live.update(node.inputs)
                sizes.update(node.op.used_symbols())
                for region in node.regions:
                    live.update(region.outputs)
                    reach(region.nodes)

    reach(graph.nodes)
    return live
