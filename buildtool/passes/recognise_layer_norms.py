"""Recognises layer normalisation in its parts: (x - mean) / sqrt(variance + epsilon) over the last axes."""

from __future__ import annotations

import numpy as np

from buildtool.ir.dims import is_static, static
from buildtool.ir.graph import Graph, Node
from buildtool.ops.layer_norm import LayerNorm
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold
from buildtool.passes.moments import affine_behind, centred_at, normalised_at


class RecogniseLayerNorms(Pass):
    name = "recognise_layer_norms"
    summary = "replace (x - mean) / sqrt(variance + epsilon) over the last axes, with scale and bias, by layer_norm"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            _recognise(editor, node)
            _absorb(editor, node)
        return editor.changed


def _recognise(editor: Editor, node: Node) -> None:
    found = normalised_at(editor, node) if editor.contains(node) else None
    x = centred_at(editor, found.value, found.axes) if found is not None else None
    if found is None or x is None or not can_hold(x, node):
        return
    axis = found.axes[0] if found.axes else x.type.rank
    shape = x.type.shape[axis:]
    if found.axes != tuple(range(axis, x.type.rank)) or not shape or not is_static(shape):
        return
    read = list(node.inputs)
    made = editor.substitute(node, LayerNorm(axis, found.epsilon), [x])
    for value in read:
        editor.sweep(value)
    _absorb(editor, made)


def _absorb(editor: Editor, node: Node) -> None:
    """Takes the product and the sum behind a layer normalisation that has none of its own."""
    if not editor.contains(node) or not isinstance(node.op, LayerNorm) or len(node.inputs) != 1:
        return
    tail = node.inputs[0].type.shape[node.op.axis :]
    affine = affine_behind(editor, node, static(tail)) if is_static(tail) else None
    if affine is None or affine.last is node:
        return
    dtype = node.inputs[0].type.dtype.numpy
    numbers = [item for item in (affine.scale, affine.bias) if item is not None]
    constants = [editor.constant(None, np.ascontiguousarray(item.astype(dtype))) for item in numbers]
    read = list(affine.last.inputs)
    editor.substitute(affine.last, node.op, [node.inputs[0], *constants], node.name)
    for value in read:
        editor.sweep(value)
