"""Lets a reduction keep or drop the axes that it folds, instead of a reshape behind it."""

from __future__ import annotations

import dataclasses

from buildtool.ir.graph import Graph
from buildtool.ops._reduction import ReduceOperator
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeReductions(Pass):
    name = "merge_reductions"
    summary = "let a reduction keep or remove its axes instead of a following reshape"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = editor.producer(node.inputs[0]) if node.op.name == "reshape" else None
            if maker is None or not isinstance(maker.op, ReduceOperator) or not editor.is_private(node.inputs[0]):
                continue
            turned = dataclasses.replace(maker.op, keepdims=not maker.op.keepdims)
            if turned.infer([maker.inputs[0].type]) == (node.outputs[0].type,):
                editor.substitute(node, turned, maker.inputs, maker.name)
                editor.remove(maker)
        return editor.changed
