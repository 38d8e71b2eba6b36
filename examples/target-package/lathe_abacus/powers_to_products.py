"""Replaces squares by products: y = x ** 2 is x * x."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Value
from buildtool.ops.mul import Mul
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class PowersToProducts(Pass):
    name = "powers_to_products"
    summary = "compute squares as products"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name != "pow" or not _is_two(node.inputs[1]) or node.inputs[0].type != node.outputs[0].type:
                continue
            product = editor.insert_before(node, Mul(), [node.inputs[0], node.inputs[0]])
            if editor.replace(node.outputs[0], product.outputs[0]):
                editor.remove(node)
        return editor.changed


def _is_two(value: Value) -> bool:
    return value.constant is not None and bool(np.all(value.constant == 2))
