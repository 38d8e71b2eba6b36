"""How much there is to compute."""

from __future__ import annotations

from buildtool.ir.dims import evaluate, symbols
from buildtool.ir.graph import Graph, Node


def macs(graph: Graph) -> int:
    """Multiply-accumulates of one run, at the upper bounds of all symbols."""
    return sum(node_macs(node) for node in graph.walk())


def node_macs(node: Node) -> int:
    """Multiply-accumulates of one run of a node, at the upper bounds of all symbols."""
    dim = node.op.macs([value.type for value in node.inputs], [value.type for value in node.outputs])
    return evaluate(dim, {symbol.name: symbol.high for symbol in symbols(dim)})
