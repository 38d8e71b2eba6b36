"""Recognises group normalisation where it was written as an instance normalisation of reshaped groups.

    [N, C, H, W] -> reshape [N, G, L] -> transpose -> group_norm of G channels -> transpose -> reshape [N, C, H, W]

with a scale of 1 and a bias of 0, and with the true ones, per channel, behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.dims import product
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.group_norm import GroupNorm
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.channels import MOST_NUMBERS
from buildtool.passes.editor import Editor
from buildtool.passes.moments import affine_behind


class RecogniseGroupNorms(Pass):
    name = "recognise_group_norms"
    summary = "replace the instance normalisation of reshaped groups, with the following scale and bias, by group_norm"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            found = _match(editor, node) if editor.contains(node) else None
            if found is None or found.channels > MOST_NUMBERS:
                continue
            affine = affine_behind(editor, node, (found.channels, *(1 for _ in node.outputs[0].type.shape[2:])))
            dtype, rank = found.x.type.dtype.numpy, found.x.type.rank
            scale = affine.scale.reshape(-1) if affine.scale is not None else np.ones(found.channels)
            bias = affine.bias.reshape(-1) if affine.bias is not None else np.zeros(found.channels)
            constants = [editor.constant(None, item.astype(dtype)) for item in (scale, bias)]
            last = affine.last
            read = list(last.inputs)
            turned = editor.insert_before(last, Transpose((0, *range(2, rank), 1)), [found.x])
            made = editor.insert_before(last, found.op, [turned.outputs[0], *constants], found.name)
            editor.substitute(last, Transpose((0, rank - 1, *range(1, rank - 1))), made.outputs)
            for value in read:
                editor.sweep(value)
        return editor.changed


@dataclass(frozen=True)
class _Found:
    x: Value
    channels: int
    op: GroupNorm
    name: str


def _match(editor: Editor, node: Node) -> _Found | None:
    """The parts of a normalisation that ends with this reshape."""
    row = [node]
    for op in ("transpose", "group_norm", "transpose", "reshape"):
        maker = editor.private_maker(row[-1].inputs[0], op) if node.op.name == "reshape" else None
        if maker is None:
            return None
        row.append(maker)
    _, back, norm, there, first = row
    if not all(isinstance(one.op, Transpose) and one.op.perm == (0, 2, 1) for one in (back, there)):
        return None
    x, channels, grouped = first.inputs[0], first.inputs[0].type.shape, first.outputs[0].type.shape
    if not isinstance(norm.op, GroupNorm) or x.type != node.outputs[0].type or x.type.rank < 3:
        return None
    count, groups = channels[1], grouped[1]
    if grouped[0] != channels[0] or not isinstance(count, int) or groups != norm.op.groups or count % norm.op.groups:
        return None
    if product(grouped) != product(channels) and grouped[2] != product(channels[1:]) // norm.op.groups:
        return None
    plain = _is(norm.inputs[1], 1) and _is(norm.inputs[2], 0)
    return _Found(x, count, norm.op, norm.name) if plain else None


def _is(value: Value, number: float) -> bool:
    return value.constant is not None and bool(np.all(value.constant == number))
