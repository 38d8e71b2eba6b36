"""Merges reshapes in a row: only the last shape matters."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ir.graph import Graph
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeReshapes(Pass):
    name = "merge_reshapes"
    summary = "merge consecutive reshapes"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            first = editor.producer(node.inputs[0]) if node.op.name == "reshape" else None
            if first is not None and first.op.name == "reshape":
                editor.set_inputs(node, first.inputs)
                editor.remove_if_unused(first)
        return editor.changed

    def ensures(self, graph: Graph) -> Iterator[str]:
        producers = graph.producers()
        for node in graph.walk():
            before = producers.get(node.inputs[0]) if node.op.name == "reshape" else None
            if before is not None and before.op.name == "reshape":
                yield f"{before!r} and {node!r} are consecutive"
