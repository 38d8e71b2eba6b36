"""Recognises hard_swish: x * hard_sigmoid(x), with the division by 6 in any place."""

from __future__ import annotations

from buildtool.ir.graph import Graph, Value
from buildtool.ops.clip import Clip
from buildtool.ops.hard_sigmoid import HardSigmoid
from buildtool.ops.hard_swish import HardSwish
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, close, product_at, shifted, write


class RecogniseHardSwishes(Pass):
    name = "recognise_hard_swishes"
    summary = "replace x * clip(x + 3, 0, 6) / 6 by hard_swish"
    requires = ("recognise_hard_sigmoids",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            product = product_at(editor, node)
            for x, gate in product.sides() if product is not None else ():
                height = _gate_height(editor, gate, x)
                if product is not None and height is not None and can_hold(x, node):
                    write(editor, node, HardSwish(), x, product.factor * height)
                    break
        return editor.changed


def _gate_height(editor: Editor, gate: Value, x: Value) -> float | None:
    """By what the gate is larger than hard_swish's: 6 for clip(x + 3, 0, 6), 1 for hard_sigmoid(x)."""
    maker = editor.private_maker(gate, "clip", "hard_sigmoid")
    if maker is None:
        return None
    if isinstance(maker.op, HardSigmoid):
        fits = maker.inputs[0] is x and close(maker.op.alpha, 1 / 6) and close(maker.op.beta, 0.5)
        return 1.0 if fits else None
    assert isinstance(maker.op, Clip)
    sum_ = shifted(editor, maker.inputs[0])
    fits = sum_ is not None and sum_[0] is x and close(sum_[1], 3) and maker.op.low == 0 and maker.op.high == 6
    return 6.0 if fits else None
