"""Absorbs a gather that only reorders channels into the weights of the layers that read its result."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Array
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.gather import Gather
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class AbsorbChannelOrders(Pass):
    name = "absorb_channel_orders"
    summary = "reorder the weights of convolutions and products instead of the channels that they read"
    requires = ("recognise_shuffles",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            order = _order(node)
            if order is None or editor.is_output(node.outputs[0]):
                continue
            readers = editor.readers(node.outputs[0])
            if not readers or not all(_can_take(node, reader) for reader in readers):
                continue
            for reader in readers:
                weights = reader.inputs[1]
                assert weights.constant is not None
                filters = editor.constant(weights, np.take(weights.constant, np.argsort(order), axis=-1))
                filters.type, filters.source_names = weights.type, weights.source_names
                editor.set_inputs(reader, [node.inputs[0], filters, *reader.inputs[2:]])
            editor.remove(node)
        return editor.changed


def _order(node: Node) -> Array | None:
    """The new order of all elements of the last axis."""
    if not isinstance(node.op, Gather) or node.op.axis != node.inputs[0].type.rank - 1:
        return None
    order = node.inputs[1].constant
    channels = node.inputs[0].type.shape[-1]
    if order is None or order.ndim != 1 or not isinstance(channels, int) or len(order) != channels:
        return None
    return order if np.array_equal(np.sort(order), np.arange(channels)) else None


def _can_take(node: Node, reader: Node) -> bool:
    if reader.inputs.count(node.outputs[0]) != 1 or reader.inputs[0] is not node.outputs[0]:
        return False
    dense = reader.op.name == "fully_connected" or (isinstance(reader.op, Conv2d) and reader.op.groups == 1)
    return dense and reader.inputs[1].is_constant and reader.inputs[1].type.quant is None
