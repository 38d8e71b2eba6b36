"""Recognises gelu, exact or through tanh: 0.5 * x * (1 + erf(x / sqrt(2))), factors in any place."""

from __future__ import annotations

import math

from buildtool.ir.graph import Graph, Value
from buildtool.ops.add import Add
from buildtool.ops.gelu import Gelu
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import can_hold, close, number, product_at, scaled, shifted, write

_CUBE = 0.044715


class RecogniseGelus(Pass):
    name = "recognise_gelus"
    summary = "replace x / 2 * (1 + erf(x / sqrt(2))), or its approximation by tanh, by gelu"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            product = product_at(editor, node)
            for x, gate in product.sides() if product is not None else ():
                kind = _kind(editor, gate, x)
                if product is not None and kind is not None and can_hold(x, node):
                    write(editor, node, Gelu(kind), x, product.factor * 2)
                    break
        return editor.changed


def _kind(editor: Editor, gate: Value, x: Value) -> str | None:
    """How `gate` approximates 1 + erf(x / sqrt(2)): "none", "tanh", or not at all."""
    sum_ = shifted(editor, gate)
    function = editor.private_maker(sum_[0], "erf", "tanh") if sum_ is not None and close(sum_[1], 1) else None
    if function is None:
        return None
    inner, factor = scaled(editor, function.inputs[0])
    if function.op.name == "erf":
        return "none" if inner is x and close(factor, math.sqrt(0.5)) else None
    if not close(factor, math.sqrt(2 / math.pi)):
        return None
    return "tanh" if _is_polynomial(editor, inner, x) else None


def _is_polynomial(editor: Editor, value: Value, x: Value) -> bool:
    """Whether a value is x + 0.044715 x^3, or x * (1 + 0.044715 x^2)."""
    maker = editor.private_maker(value, "add", "mul")
    if maker is None:
        return False
    for first, second in (maker.inputs[:2], maker.inputs[1::-1]):
        if first is not x:
            continue
        if isinstance(maker.op, Add):
            power, factor = scaled(editor, second)
            if maker.op.activation == "none" and close(factor, _CUBE) and _exponent(editor, power, x) == 3:
                return True
        else:
            sum_ = shifted(editor, second)
            power, factor = scaled(editor, sum_[0]) if sum_ is not None and close(sum_[1], 1) else (x, 0.0)
            if close(factor, _CUBE) and _exponent(editor, power, x) == 2:
                return True
    return False


def _exponent(editor: Editor, value: Value, x: Value) -> int | None:
    """The exponent of a power of x."""
    if value is x:
        return 1
    maker = editor.private_maker(value, "pow", "mul")
    if maker is None:
        return None
    if maker.op.name == "pow":
        exponent = number(maker.inputs[1])
        return round(exponent) if maker.inputs[0] is x and exponent in (2.0, 3.0) else None
    parts = [_exponent(editor, operand, x) for operand in maker.inputs]
    return sum(part for part in parts if part is not None) if None not in parts else None
