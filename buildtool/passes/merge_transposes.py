"""Merges transposes in a row, and turns those that move no element in memory into reshapes."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ir.graph import Graph
from buildtool.ops.reshape import Reshape
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.permutations import is_identity, moves_only_ones, then


class MergeTransposes(Pass):
    name = "merge_transposes"
    summary = "merge consecutive transposes; replace a transpose that only moves axes of size 1 by a reshape"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if not isinstance(node.op, Transpose):
                continue
            first = editor.producer(node.inputs[0])
            if first is not None and isinstance(first.op, Transpose):
                node = editor.substitute(node, Transpose(then(first.op.perm, node.op.perm)), first.inputs)
                editor.remove_if_unused(first)
            assert isinstance(node.op, Transpose)
            source, target = node.inputs[0], node.outputs[0]
            if is_identity(node.op.perm) and editor.replace(target, source):
                editor.remove(node)
            elif moves_only_ones(source.type.shape, node.op.perm):
                editor.substitute(node, Reshape(target.type.shape), [source])
        return editor.changed

    def ensures(self, graph: Graph) -> Iterator[str]:
        producers = graph.producers()
        for node in graph.walk():
            before = producers.get(node.inputs[0]) if node.inputs else None
            if node.op.name == "transpose" and before is not None and before.op.name == "transpose":
                yield f"{before!r} and {node!r} are consecutive"
