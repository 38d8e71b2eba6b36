"""Absorbs the transpose in front of a flattened fully connected layer into the order of its weights."""

from __future__ import annotations

import math

from buildtool.ir.dims import is_static, static
from buildtool.ir.graph import Graph, Node
from buildtool.ops.reshape import Reshape
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.permutations import Perm, identity, inverse


class AbsorbTransposes(Pass):
    name = "absorb_transposes"
    summary = "reorder the weights of a fully connected layer instead of transposing its flattened input"
    requires = ("move_transposes", "matmul_to_fully_connected")

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            flatten = editor.private_maker(node.inputs[0], "reshape") if node.op.name == "fully_connected" else None
            transpose = editor.producer(flatten.inputs[0]) if flatten is not None else None
            if flatten is None or transpose is None or not isinstance(transpose.op, Transpose):
                continue
            first = _first_flattened(transpose.op.perm, flatten)
            weights = node.inputs[1]
            if first is None or weights.constant is None:
                continue
            back = inverse(transpose.op.perm)
            matrix = weights.constant.reshape(-1, *static(transpose.outputs[0].type.shape[first:]))
            ordered = matrix.transpose(0, *(1 + axis - first for axis in back[first:])).reshape(matrix.shape[0], -1)
            constant = editor.constant(weights, ordered)
            constant.source_names = weights.source_names
            target = flatten.outputs[0].type.shape
            flat = editor.insert_before(flatten, Reshape(target), transpose.inputs)
            editor.set_inputs(node, [flat.outputs[0], constant, *node.inputs[2:]])
            editor.remove_if_unused(flatten)
            editor.remove_if_unused(transpose)
        return editor.changed


def _first_flattened(perm: Perm, flatten: Node) -> int | None:
    """The first of the axes that are flattened into the last one, where the transpose moves only those."""
    source, target = flatten.inputs[0].type.shape, flatten.outputs[0].type.shape
    for first in range(len(source)):
        tail = source[first:]
        if perm[:first] == identity(first) and is_static(tail) and math.prod(static(tail)) == target[-1]:
            return first
    return None
