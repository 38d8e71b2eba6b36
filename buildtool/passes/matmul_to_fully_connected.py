"""Turns a product with a constant matrix into a fully connected layer, whose weights stand row by row."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.fully_connected import FullyConnected
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MatmulToFullyConnected(Pass):
    name = "matmul_to_fully_connected"
    summary = "replace a matmul with a constant matrix by fully_connected"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name != "matmul":
                continue
            x, matrix = node.inputs
            if matrix.constant is None or matrix.type.rank != 2 or x.type.rank < 2 or not x.type.dtype.is_float:
                continue
            weights = editor.constant(matrix, matrix.constant.T)
            weights.source_names = matrix.source_names
            editor.substitute(node, FullyConnected(), [x, weights])
        return editor.changed
