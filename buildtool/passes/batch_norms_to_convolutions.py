"""Turns a batch normalisation that stands alone into a depthwise convolution, which can apply an activation, too."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.batch_norm import BatchNorm
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class BatchNormsToConvolutions(Pass):
    name = "batch_norms_to_convolutions"
    summary = "replace a batch normalisation that could not be folded by a 1x1 depthwise convolution"
    requires = ("fold_batch_norms",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            numbers = _numbers(node)
            if numbers is None:
                continue
            x, scale = node.inputs[0], node.inputs[1]
            factor, offset = numbers
            filters = editor.constant(scale, factor.reshape(1, 1, -1).astype(np.float32))
            filters.source_names = scale.source_names
            bias = editor.constant(node.inputs[2], offset.astype(np.float32))
            editor.substitute(node, DwConv2d(), [x, filters, bias])
        return editor.changed


def _numbers(node: Node) -> tuple[Array, Array] | None:
    """Factor and offset per channel."""
    if (
        not isinstance(node.op, BatchNorm)
        or node.inputs[0].type.rank != 4
        or node.inputs[0].type.dtype is not DType.F32
    ):
        return None
    arrays = [value.constant.astype(np.float64) for value in node.inputs[1:] if value.constant is not None]
    if len(arrays) != 4 or not np.all(arrays[3] + node.op.epsilon > 0):
        return None
    factor = arrays[0] / np.sqrt(arrays[3] + node.op.epsilon)
    return factor, arrays[1] - arrays[2] * factor
