"""Folds batch normalisation into the weights of the layer before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ops.batch_norm import BatchNorm
from buildtool.passes.base import Pass
from buildtool.passes.channels import absorb, foldable_maker
from buildtool.passes.editor import Editor


class FoldBatchNorms(Pass):
    name = "fold_batch_norms"
    summary = "fold batch normalisation into the weights of the preceding convolution or matrix product"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = _maker(editor, node)
            if maker is None or not isinstance(node.op, BatchNorm):
                continue
            scale, bias, mean, variance = (
                value.constant.astype(np.float64) for value in node.inputs[1:] if value.constant is not None
            )
            factor = scale / np.sqrt(variance + node.op.epsilon)
            absorb(editor, maker, node, factor, bias - mean * factor)
        return editor.changed

    def ensures(self, graph: Graph) -> Iterator[str]:
        editor = Editor(graph)
        for node in graph.walk():
            if _maker(editor, node) is not None:
                yield f"{node!r} could be folded"


def _maker(editor: Editor, node: Node) -> Node | None:
    """The layer that a batch normalisation can be folded into."""
    if not isinstance(node.op, BatchNorm) or any(value.constant is None for value in node.inputs[1:]):
        return None
    variance = node.inputs[4].constant
    if variance is None or not np.all(variance + node.op.epsilon > 0):
        return None  # the result is not a number; folding would spread it differently
    return foldable_maker(editor, node.inputs[0])
