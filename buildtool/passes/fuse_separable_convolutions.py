"""Lets a depthwise convolution and the 1x1 convolution behind it be computed together, block by block."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.separable_conv2d import SeparableConv2d
from buildtool.passes.base import Pass
from buildtool.passes.convolution_pairs import is_depthwise, is_pointwise, most_bytes, pays, with_bias
from buildtool.passes.editor import Editor

# Each block reads all filters of the 1x1 convolution: many of them, or few lines, leave nothing to gain.
LEAST_LINES = 28
MOST_FILTER_BYTES = 128 * 1024


class FuseSeparableConvolutions(Pass):
    name = "fuse_separable_convolutions"
    summary = "merge a large depthwise convolution with the following 1x1 convolution, computed block by block"
    requires = ("fuse_biases", "fuse_residuals", "fuse_activations")
    makes = ("separable_conv2d",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = editor.private_maker(node.inputs[0], "dwconv2d") if is_pointwise(node) else None
            if maker is None or not is_depthwise(maker) or most_bytes(node.inputs[1]) > MOST_FILTER_BYTES:
                continue
            if not pays(maker.inputs[0], node.inputs[0], node.outputs[0], LEAST_LINES):
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
            filters = [*with_bias(editor, node), *with_bias(editor, maker)]
            editor.substitute(node, op, [maker.inputs[0], *filters, *node.inputs[3:]], node.name)
            editor.remove(maker)
        return editor.changed
