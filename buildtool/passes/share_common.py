"""Computes only once what several nodes compute alike."""

from __future__ import annotations

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Operator
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class ShareCommon(Pass):
    name = "share_common"
    summary = "merge nodes that apply the same operator to the same inputs"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for body in graph.bodies():
            seen: dict[tuple[Operator, tuple[Value, ...]], Node] = {}
            for node in list(body.nodes):
                if node.regions:
                    continue
                first = seen.setdefault((node.op, tuple(node.inputs)), node)
                if first is node or any(
                    editor.is_output(old) and editor.is_output(new)
                    for old, new in zip(node.outputs, first.outputs, strict=True)
                ):
                    continue
                for old, new in zip(node.outputs, first.outputs, strict=True):
                    editor.replace(old, new)
                editor.remove(node)
        return editor.changed
