"""Cuts a gather whose result is split into gathers of the parts: what is picked for one part need not pass by all."""

from __future__ import annotations

from buildtool.ir.graph import Graph, Node
from buildtool.ops.gather import Gather
from buildtool.ops.split import Split
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class SplitGathers(Pass):
    name = "split_gathers"
    summary = "replace a gather with constant indices that only a split reads by one gather per part"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            gather = editor.private_maker(node.inputs[0], "gather") if isinstance(node.op, Split) else None
            if gather is not None:
                _cut(editor, gather, node)
        return editor.changed


def _cut(editor: Editor, gather: Node, split: Node) -> None:
    assert isinstance(gather.op, Gather) and isinstance(split.op, Split)
    places, sizes, begin = gather.inputs[1].constant, split.op.sizes, 0
    if places is None or places.ndim != 1 or gather.op.axis != split.op.axis:
        return
    for value, size in zip(list(split.outputs), sizes, strict=True):
        assert isinstance(size, int), "they add up to the number of indices"
        part = editor.constant(gather.inputs[1], places[begin : begin + size])
        begin += size
        picked = editor.insert_before(split, Gather(gather.op.axis), [gather.inputs[0], part], gather.name)
        replaced = editor.replace(value, picked.outputs[0])
        assert replaced, "a fresh value can take any name"
    editor.remove(split)
    editor.remove(gather)
