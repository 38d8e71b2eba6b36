"""Lets a 1x1 convolution and the depthwise convolution that makes its result smaller be computed together."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.pointwise_dwconv2d import PointwiseDwConv2d
from buildtool.passes.base import Pass
from buildtool.passes.convolution_pairs import is_depthwise, is_pointwise, most_bytes, pays, with_bias
from buildtool.passes.editor import Editor

LEAST_LINES = 56  # of the large image: threads share bands of its lines


class FuseExpansions(Pass):
    name = "fuse_expansions"
    summary = "merge a 1x1 convolution with the strided depthwise convolution that reduces its large result"
    requires = ("fuse_biases", "fuse_residuals", "fuse_activations")
    makes = ("pointwise_dwconv2d",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = editor.private_maker(node.inputs[0], "conv2d") if is_depthwise(node) else None
            if maker is None or not is_pointwise(maker) or len(maker.inputs) > 3:
                continue
            # Where the result is as large as what lies between, the 1x1 convolution behind it is the better partner.
            between, after = node.inputs[0], node.outputs[0]
            if most_bytes(after) >= most_bytes(between) or not pays(maker.inputs[0], between, after, LEAST_LINES):
                continue
            assert isinstance(node.op, DwConv2d)
            assert isinstance(maker.op, Conv2d)
            op = PointwiseDwConv2d(
                strides=node.op.strides,
                pads=node.op.pads,
                dilations=node.op.dilations,
                pointwise_activation=maker.op.activation,
                pointwise_activation_alpha=maker.op.activation_alpha,
                pointwise_activation_beta=maker.op.activation_beta,
                activation=node.op.activation,
                activation_alpha=node.op.activation_alpha,
                activation_beta=node.op.activation_beta,
            )
            filters = [*with_bias(editor, maker), *with_bias(editor, node)]
            editor.substitute(node, op, [maker.inputs[0], *filters], node.name)
            editor.remove(maker)
        return editor.changed
