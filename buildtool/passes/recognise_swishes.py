"""Recognises swish: x * sigmoid(x)."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.swish import Swish
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, close, product_at, scaled, write


class RecogniseSwishes(Pass):
    name = "recognise_swishes"
    summary = "replace x * sigmoid(x) by swish"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            product = product_at(editor, node)
            for x, gate in product.sides() if product is not None else ():
                maker = editor.private_maker(gate, "sigmoid")
                if product is None or maker is None or not can_hold(x, node):
                    continue
                inside, slope = scaled(editor, maker.inputs[0])
                if inside is x and close(slope, 1.0):
                    write(editor, node, Swish(), x, product.factor)
                    break
        return editor.changed
