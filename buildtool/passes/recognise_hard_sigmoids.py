"""Recognises hard_sigmoid in its parts: clip(a * x + b, 0, h) / h, and the same with one of its steps left out."""

from __future__ import annotations

import math

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.clip import Clip
from buildtool.ops.hard_sigmoid import HardSigmoid
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, close, scaled, shifted, with_number, write


class RecogniseHardSigmoids(Pass):
    name = "recognise_hard_sigmoids"
    summary = "replace clip(a * x + b, 0, h) / h by hard_sigmoid"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            found = _match(editor, node)
            if found is not None and can_hold(found[0], node):
                write(editor, node, found[1], found[0])
        return editor.changed


def _match(editor: Editor, node: Node) -> tuple[Value, HardSigmoid] | None:
    """The operand, and the operator that stands for everything up to the node."""
    limited, factor = node.outputs[0], 1.0
    if isinstance(node.op, Clip):
        clip: Node | None = node
    else:
        product = with_number(node)
        if product is None:
            return None
        limited, factor = product
        clip = editor.private_maker(limited, "clip")
    if clip is None or not isinstance(clip.op, Clip) or clip.op.low != 0 or not math.isfinite(clip.op.high):
        return None
    if not close(clip.op.high * factor, 1.0):
        return None
    sum_ = shifted(editor, clip.inputs[0])
    if sum_ is None:
        return None
    x, slope = scaled(editor, sum_[0])
    alpha, beta = slope * factor, sum_[1] * factor
    return (x, HardSigmoid(alpha, beta)) if math.isfinite(alpha) and math.isfinite(beta) else None
