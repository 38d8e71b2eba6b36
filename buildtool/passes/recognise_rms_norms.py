"""Recognises the normalisation by the root mean square: x / sqrt(mean of x^2 + epsilon) over the last axes."""

from __future__ import annotations

import numpy as np

from buildtool.ir.dims import is_static, static
from buildtool.ir.graph import Graph, Node
from buildtool.ops.rms_norm import RmsNorm
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold
from buildtool.passes.moments import affine_behind, normalised_at


class RecogniseRmsNorms(Pass):
    name = "recognise_rms_norms"
    summary = "replace x / sqrt(mean of x^2 + epsilon) over the last axes, with scale, by rms_norm"
    requires = ("recognise_layer_norms",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if editor.contains(node):
                _recognise(editor, node)
        return editor.changed


def _recognise(editor: Editor, node: Node) -> None:
    found = normalised_at(editor, node)
    if found is None or not can_hold(found.value, node):
        return
    x = found.value
    axis = found.axes[0] if found.axes else x.type.rank
    shape = x.type.shape[axis:]
    if found.axes != tuple(range(axis, x.type.rank)) or not shape or not is_static(shape):
        return
    affine = affine_behind(editor, node, static(shape))
    last, scale = (node, None) if affine.bias is not None else (affine.last, affine.scale)
    operands = [x]
    if scale is not None:
        operands.append(editor.constant(None, np.ascontiguousarray(scale.astype(x.type.dtype.numpy))))
    read = list(last.inputs)
    editor.substitute(last, RmsNorm(axis, found.epsilon), operands, node.name)
    for value in read:
        editor.sweep(value)
