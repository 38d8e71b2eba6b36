"""Lets a depthwise convolution and the 1x1 convolution behind it be computed together, block by block."""

from __future__ import annotations

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.separable_conv2d import SeparableConv2d
from buildtool.passes.base import Pass
from buildtool.passes.channels import has_few_channels
from buildtool.passes.editor import Editor

#: What lies between the two convolutions has to be larger than this: less stays in the caches anyway.
LEAST_BYTES = 256 * 1024
#: Blocks are whole lines of the image, and all threads need some.
LEAST_LINES = 28


class FuseSeparableConvolutions(Pass):
    name = "fuse_separable_convolutions"
    summary = "compute a large depthwise convolution and the 1x1 convolution behind it block by block"
    requires = ("fuse_biases", "fuse_residuals", "fuse_activations")

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = _match(editor, node)
            if maker is None or not _pays(maker.inputs[0], node.inputs[0], node.outputs[0]):
                continue
            assert isinstance(node.op, Conv2d)
            assert isinstance(maker.op, DwConv2d)
            op = SeparableConv2d(
                strides=maker.op.strides,
                pads=maker.op.pads,
                dilations=maker.op.dilations,
                depthwise_activation=maker.op.activation,
                depthwise_activation_alpha=maker.op.activation_alpha,
                depthwise_activation_beta=maker.op.activation_beta,
                activation=node.op.activation,
                activation_alpha=node.op.activation_alpha,
                activation_beta=node.op.activation_beta,
            )
            pointwise = [node.inputs[1], _bias(editor, node)]
            depthwise = [maker.inputs[1], _bias(editor, maker)]
            editor.substitute(node, op, [maker.inputs[0], *pointwise, *depthwise, *node.inputs[3:]], node.name)
            editor.remove(maker)
        return editor.changed


def _match(editor: Editor, node: Node) -> Node | None:
    """The depthwise convolution in front of a 1x1 convolution, where there are kernels that do both."""
    op = node.op
    if not isinstance(op, Conv2d) or node.inputs[1].constant is None or node.inputs[1].type.dtype is not DType.F32:
        return None
    if node.inputs[1].type.shape[1:3] != (1, 1) or op.groups != 1 or set(op.strides) != {1} or any(op.pads):
        return None
    maker = editor.private_maker(node.inputs[0], "dwconv2d")
    if maker is None or not isinstance(maker.op, DwConv2d) or maker.op.multiplier != 1:
        return None
    if maker.inputs[1].type.shape[:2] != (3, 3) or maker.op.strides not in ((1, 1), (2, 2)):
        return None
    few = has_few_channels(maker.outputs[0]) and has_few_channels(node.outputs[0])
    return maker if few and set(maker.op.dilations) == {1} else None


def _pays(before: Value, between: Value, after: Value) -> bool:
    """Whether computing both together is faster, and needs no more memory than one after the other."""
    if bounds(between.type.shape[1])[1] < LEAST_LINES or _bytes(between) <= LEAST_BYTES:
        return False
    return _bytes(before) <= _bytes(between) or _bytes(after) <= _bytes(between)


def _bytes(value: Value) -> int:
    size = value.type.dtype.numpy.itemsize
    for dim in value.type.shape:
        size *= bounds(dim)[1]
    return int(size)


def _bias(editor: Editor, node: Node) -> Value:
    """The operand that a convolution may leave out."""
    if len(node.inputs) > 2:
        return node.inputs[2]
    channels = node.outputs[0].type.shape[-1]
    assert isinstance(channels, int)
    return editor.constant(None, np.zeros(channels, np.float32))
