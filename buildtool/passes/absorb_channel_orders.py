"""Absorbs a gather that only reorders channels into the weights of the layers that read its result."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.gather import Gather
from buildtool.passes.base import Pass
from buildtool.passes.channels import foldable_constants
from buildtool.passes.editor import Editor


class AbsorbChannelOrders(Pass):
    name = "absorb_channel_orders"
    summary = "reorder the weights of convolutions and matrix products instead of their input channels"
    requires = ("recognise_shuffles",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            order = _order(node)
            value = node.outputs[0] if node.outputs else None
            if order is None or value is None or editor.is_output(value):
                continue
            readers = editor.readers(value)
            if not readers or not all(takes_orders(value, node) or _passes_on(editor, value, node) for node in readers):
                continue
            for reader in readers:
                if isinstance(reader.op, DwConv2d):
                    _reorder_depthwise(editor, reader, np.argsort(order))
                else:
                    reorder_weights(editor, reader, value, np.argsort(order))
                editor.set_inputs(reader, [node.inputs[0], *reader.inputs[1:]])
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


def takes_orders(value: Value, reader: Node) -> bool:
    """Whether a layer that reads the value may have its channels in another order, given other weights."""
    if reader.inputs.count(value) != 1 or reader.inputs[0] is not value:
        return False
    dense = reader.op.name == "fully_connected" or (isinstance(reader.op, Conv2d) and reader.op.groups == 1)
    return dense and reader.inputs[1].is_constant and reader.inputs[1].type.quant is None


def reorder_weights(editor: Editor, reader: Node, value: Value, order: Array) -> None:
    """Weights for channels that come in another order: the new channel i is what channel order[i] was."""
    weights = reader.inputs[1]
    assert weights.constant is not None and reader.inputs[0] is value
    filters = editor.constant(weights, np.take(weights.constant, order, axis=-1))
    filters.type, filters.source_names = weights.type, weights.source_names
    editor.set_inputs(reader, [value, filters, *reader.inputs[2:]])


def _passes_on(editor: Editor, value: Value, reader: Node) -> bool:
    """Whether a depthwise convolution may work in another order, because all behind it take that."""
    if not isinstance(reader.op, DwConv2d) or reader.op.multiplier != 1 or reader.inputs[0] is not value:
        return False
    if value in reader.inputs[1:] or not foldable_constants(reader) or editor.is_output(reader.outputs[0]):
        return False
    behind = editor.readers(reader.outputs[0])
    return bool(behind) and all(takes_orders(reader.outputs[0], node) for node in behind)


def _reorder_depthwise(editor: Editor, node: Node, order: Array) -> None:
    constants = []
    for operand in node.inputs[1:]:
        assert operand.constant is not None
        constants.append(editor.constant(operand, np.take(operand.constant, order, axis=-1)))
        constants[-1].type, constants[-1].source_names = operand.type, operand.source_names
    editor.set_inputs(node, [node.inputs[0], *constants])
    result = node.outputs[0]
    editor.forget_names(result)
    for reader in editor.readers(result):
        reorder_weights(editor, reader, result, order)
