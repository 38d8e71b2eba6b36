"""Folds multiplication and division by constants per channel into the weights of the layer before."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph
from buildtool.passes.base import Pass
from buildtool.passes.channels import absorb, foldable_maker, per_channel
from buildtool.passes.editor import Editor


class FoldScales(Pass):
    name = "fold_scales"
    summary = "fold mul and div by per-channel constants into the weights of the preceding layer"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name not in ("mul", "div"):
                continue
            sides = [(node.inputs[0], node.inputs[1])]
            if node.op.name == "mul":
                sides.append((node.inputs[1], node.inputs[0]))
            for made, factor in sides:
                scale = per_channel(factor, node.outputs[0])
                maker = foldable_maker(editor, made)
                if scale is None or maker is None or made.type != node.outputs[0].type:
                    continue
                if node.op.name == "div":
                    if not np.all(scale):
                        continue
                    scale = 1 / scale
                absorb(editor, maker, node, scale, np.zeros(scale.shape))
                break
        return editor.changed
