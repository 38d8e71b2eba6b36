"""Removes operators that hand their input through: identity, and dropouts, which are imported as identity."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class RemoveIdentities(Pass):
    name = "remove_identities"
    summary = "remove identity nodes, except where an output is an input, a constant or another output"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name == "identity" and editor.replace(node.outputs[0], node.inputs[0]):
                editor.remove(node)
        return editor.changed
