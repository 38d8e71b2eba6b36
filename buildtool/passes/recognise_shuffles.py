"""Recognises channel shuffles (reshape, transpose, reshape) as one gather of a constant order."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ops.gather import Gather
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.channels import MOST_NUMBERS
from buildtool.passes.editor import Editor


class RecogniseShuffles(Pass):
    name = "recognise_shuffles"
    summary = "replace the reshape, transpose and reshape of a channel shuffle by one gather"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            found = _match(editor, node)
            if found is None:
                continue
            transpose, split, axis, groups, depth = found
            if groups * depth > MOST_NUMBERS:
                continue
            order = np.arange(groups * depth, dtype=np.int64).reshape(groups, depth).T.reshape(-1)
            editor.substitute(node, Gather(axis), [split.inputs[0], editor.constant(None, order)], transpose.name)
            editor.remove(transpose)
            editor.remove_if_unused(split)
        return editor.changed


def _match(editor: Editor, node: Node) -> tuple[Node, Node, int, int, int] | None:
    """The transpose, the reshape before it, the axis that is shuffled, and the sizes of the two parts of that axis."""
    transpose = editor.private_maker(node.inputs[0], "transpose") if node.op.name == "reshape" else None
    split = editor.producer(transpose.inputs[0]) if transpose is not None else None
    if transpose is None or split is None or split.op.name != "reshape" or not isinstance(transpose.op, Transpose):
        return None
    whole, parts, perm = split.inputs[0].type.shape, split.outputs[0].type.shape, transpose.op.perm
    swapped = [axis for axis, source in enumerate(perm) if axis != source]
    if whole != node.outputs[0].type.shape or len(parts) != len(whole) + 1 or len(swapped) != 2:
        return None
    axis = swapped[0]
    groups, depth = parts[axis], parts[axis + 1]
    if swapped[1] != axis + 1 or not isinstance(groups, int) or not isinstance(depth, int):
        return None
    if (*parts[:axis], groups * depth, *parts[axis + 2 :]) != whole:
        return None
    return transpose, split, axis, groups, depth
