"""Recognises instance normalisation of a channels-last value in its parts: a group_norm with a group per channel."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ops.group_norm import GroupNorm
from buildtool.passes.base import Pass
from buildtool.passes.channels import has_few_channels
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold
from buildtool.passes.moments import affine_behind, centred_at, normalised_at


class RecogniseInstanceNorms(Pass):
    name = "recognise_instance_norms"
    summary = (
        "replace (x - mean) / sqrt(variance + epsilon) over the spatial axes by group_norm with a group per channel"
    )
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if editor.contains(node):
                _recognise(editor, node)
        return editor.changed


def _recognise(editor: Editor, node: Node) -> None:
    found = normalised_at(editor, node)
    x = centred_at(editor, found.value, found.axes) if found is not None else None
    if found is None or x is None or not can_hold(x, node):
        return
    channels = x.type.shape[-1]
    if x.type.rank < 3 or found.axes != tuple(range(1, x.type.rank - 1)) or not isinstance(channels, int):
        return
    if not has_few_channels(x):
        return
    affine = affine_behind(editor, node, (channels,))
    dtype = x.type.dtype.numpy
    scale = affine.scale if affine.scale is not None else np.ones(channels)
    bias = affine.bias if affine.bias is not None else np.zeros(channels)
    constants = [editor.constant(None, np.ascontiguousarray(item.astype(dtype))) for item in (scale, bias)]
    read = list(affine.last.inputs)
    editor.substitute(affine.last, GroupNorm(channels, found.epsilon), [x, *constants], node.name)
    for value in read:
        editor.sweep(value)
