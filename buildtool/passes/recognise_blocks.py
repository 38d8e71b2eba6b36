"""Recognises depth_to_space and space_to_depth as exporters write them: reshape to six axes, transpose, reshape."""

from __future__ import annotations

from buildtool.ir.dims import Dim, Shape
from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Operator
from buildtool.ops.depth_to_space import DepthToSpace
from buildtool.ops.space_to_depth import SpaceToDepth
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

_TO_SPACE = {(0, 3, 4, 1, 5, 2): "DCR", (0, 1, 4, 2, 5, 3): "CRD"}
_TO_DEPTH = {(0, 3, 5, 1, 2, 4): "DCR", (0, 1, 3, 5, 2, 4): "CRD"}


class RecogniseBlocks(Pass):
    name = "recognise_blocks"
    summary = "replace reshape, transpose and reshape of six axes by depth_to_space or space_to_depth"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            transpose = editor.private_maker(node.inputs[0], "transpose") if node.op.name == "reshape" else None
            split = editor.private_maker(transpose.inputs[0], "reshape") if transpose is not None else None
            if transpose is None or split is None:
                continue
            op = _operator(split, transpose, node)
            if op is None:
                continue
            last = editor.insert_before(node, Transpose((0, 2, 3, 1)), split.inputs)
            blocks = editor.insert_before(node, op, last.outputs, transpose.name)
            editor.substitute(node, Transpose((0, 3, 1, 2)), blocks.outputs)
            editor.sweep(transpose.outputs[0])
        return editor.changed


def _operator(split: Node, transpose: Node, join: Node) -> Operator | None:
    """The operator on [N, H, W, C] that moves blocks as the three nodes do on [N, C, H, W]."""
    assert isinstance(transpose.op, Transpose)
    source, parts, target = split.inputs[0].type.shape, split.outputs[0].type.shape, join.outputs[0].type.shape
    if (len(source), len(parts), len(target)) != (4, 6, 4):
        return None
    perm = transpose.op.perm
    if perm in _TO_SPACE:
        mode = _TO_SPACE[perm]
        depth, block = (parts[3], parts[1]) if mode == "DCR" else (parts[1], parts[2])
        wanted = (block, block, depth) if mode == "DCR" else (depth, block, block)
        if not isinstance(block, int) or parts != (source[0], *wanted, source[2], source[3]):
            return None
        return DepthToSpace(block, mode) if target == _enlarged(source, depth, block) else None
    if perm in _TO_DEPTH:
        block, channels = parts[3], source[1]
        if not isinstance(block, int) or not isinstance(channels, int) or block < 1:
            return None
        height, width = source[2] // block, source[3] // block
        if parts != (source[0], channels, height, block, width, block):
            return None
        fits = target == (source[0], channels * block * block, height, width)
        return SpaceToDepth(block, _TO_DEPTH[perm]) if fits else None
    return None


def _enlarged(source: Shape, depth: Dim, block: int) -> Shape:
    return (source[0], depth, source[2] * block, source[3] * block)
