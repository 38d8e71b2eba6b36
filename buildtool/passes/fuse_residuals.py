"""Lets a convolution add what is added to its result: the other branch of a residual block."""

from __future__ import annotations

import dataclasses

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.passes.base import Pass
from buildtool.passes.channels import has_few_channels
from buildtool.passes.editor import Editor


class FuseResiduals(Pass):
    name = "fuse_residuals"
    summary = "merge the addition of a residual block, and the activation after it, into the convolution"
    requires = ("move_transposes", "fuse_biases")

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            found = _match(editor, node)
            if found is None or not isinstance(node.op, Add):
                continue
            maker, residual = found
            assert isinstance(maker.op, Conv2d)
            op = dataclasses.replace(
                maker.op,
                activation=node.op.activation,
                activation_alpha=node.op.activation_alpha,
                activation_beta=node.op.activation_beta,
            )
            editor.substitute(node, op, [*_with_bias(editor, maker), residual], maker.name)
            editor.remove(maker)
        return editor.changed


def _match(editor: Editor, node: Node) -> tuple[Node, Value] | None:
    """The convolution and what is added to its result; of two convolutions the first operand."""
    if not isinstance(node.op, Add) or not has_few_channels(node.outputs[0]):
        return None
    for made, residual in ((node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])):
        maker = editor.private_maker(made, "conv2d")
        if maker is None or not isinstance(maker.op, Conv2d) or maker.op.activation != "none" or len(maker.inputs) > 3:
            continue
        if residual is not made and not residual.is_constant and made.type == residual.type == node.outputs[0].type:
            return maker, residual
    return None


def _with_bias(editor: Editor, maker: Node) -> list[Value]:
    """The operands in front of the residual; only the last ones may be left out."""
    if len(maker.inputs) == 3:
        return maker.inputs
    channels, dtype = maker.outputs[0].type.shape[-1], maker.inputs[1].type.dtype
    assert isinstance(channels, int)
    zeros = editor.constant(None, np.zeros(channels, dtype.numpy))
    zeros.type = dataclasses.replace(zeros.type, dtype=dtype)
    return [*maker.inputs, zeros]
