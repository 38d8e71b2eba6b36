"""Moves the addition of a constant per channel into the bias of the layer before."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.add import Add
from buildtool.ops.sub import Sub
from buildtool.passes.base import Pass
from buildtool.passes.channels import absorb, foldable_maker, per_channel
from buildtool.passes.editor import Editor


class FuseBiases(Pass):
    name = "fuse_biases"
    summary = "move add and sub of per-channel constants into the bias of the preceding layer"
    requires = ("move_transposes", "matmul_to_fully_connected")

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if not isinstance(node.op, Add | Sub) or getattr(node.op, "activation", "none") != "none":
                continue
            sides = [(node.inputs[0], node.inputs[1])]
            if isinstance(node.op, Add):
                sides.append((node.inputs[1], node.inputs[0]))
            for made, constant in sides:
                shift = per_channel(constant, node.outputs[0])
                maker = foldable_maker(editor, made)
                if shift is not None and maker is not None and made.type == node.outputs[0].type:
                    absorb(editor, maker, node, None, -shift if isinstance(node.op, Sub) else shift)
                    break
        return editor.changed
