"""Recognises mish: x * tanh(softplus(x))."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.mish import Mish
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, product_at, write


class RecogniseMishes(Pass):
    name = "recognise_mishes"
    summary = "replace x * tanh(softplus(x)) by mish"
    requires = ("recognise_softplus",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            product = product_at(editor, node)
            for x, gate in product.sides() if product is not None else ():
                tangent = editor.private_maker(gate, "tanh")
                inner = editor.private_maker(tangent.inputs[0], "softplus") if tangent is not None else None
                if product is not None and inner is not None and inner.inputs[0] is x and can_hold(x, node):
                    write(editor, node, Mish(), x, product.factor)
                    break
        return editor.changed
