"""Merges enlargements in a row that repeat whole pixels."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.resize2d import Resize2d
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeResizes(Pass):
    name = "merge_resizes"
    summary = "merge consecutive nearest-neighbour enlargements"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            first = editor.private_maker(node.inputs[0], "resize2d") if isinstance(node.op, Resize2d) else None
            if first is None or not isinstance(first.op, Resize2d) or not isinstance(node.op, Resize2d):
                continue
            if _repeats(first.op) and _repeats(node.op):
                scales = tuple(a * b for a, b in zip(first.op.scales, node.op.scales, strict=True))
                merged = Resize2d(node.op.size, scales, "nearest", "asymmetric", "floor")
                editor.substitute(node, merged, first.inputs)
                editor.remove_if_unused(first)
        return editor.changed


def _repeats(op: Resize2d) -> bool:
    """Whether every pixel is repeated a whole number of times in each direction."""
    whole = all(scale >= 1 and scale.is_integer() for scale in op.scales)
    return whole and (op.mode, op.coordinates, op.rounding) == ("nearest", "asymmetric", "floor")
