"""Recognises softplus: log(exp(x) + 1)."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.softplus import Softplus
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, close, shifted, write


class RecogniseSoftplus(Pass):
    name = "recognise_softplus"
    summary = "replace log(exp(x) + 1) by softplus, which does not overflow"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            sum_ = shifted(editor, node.inputs[0]) if node.op.name == "log" else None
            power = editor.private_maker(sum_[0], "exp") if sum_ is not None and close(sum_[1], 1) else None
            if power is not None and can_hold(power.inputs[0], node):
                write(editor, node, Softplus(), power.inputs[0])
        return editor.changed
