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
            if maker.op.activation == "none" and _is_power(editor, second, x, 3):
                return True
        else:
            sum_ = shifted(editor, second)
            if sum_ is not None and close(sum_[1], 1) and _is_power(editor, sum_[0], x, 2):
                return True
    return False


def _is_power(editor: Editor, value: Value, x: Value, exponent: int) -> bool:
    """Whether a value is 0.044715 times this power of x."""
    power = _power(editor, value, x)
    return power is not None and power[0] == exponent and close(power[1], _CUBE)


def _power(editor: Editor, value: Value, x: Value) -> tuple[int, float] | None:
    """The exponent and the factor of a power of x, wherever the factor stands."""
    if value is x:
        return 1, 1.0
    factor = number(value)
    if factor is not None:
        return 0, factor
    maker = editor.private_maker(value, "pow", "mul", "div")
    if maker is None or getattr(maker.op, "activation", "none") != "none":
        return None
    if maker.op.name == "pow":
        exponent = number(maker.inputs[1])
        return (round(exponent), 1.0) if maker.inputs[0] is x and exponent in (2.0, 3.0) else None
    left, right = (_power(editor, operand, x) for operand in maker.inputs)
    if left is None or right is None:
        return None
    if maker.op.name == "mul":
        return left[0] + right[0], left[1] * right[1]
    return (left[0] - right[0], left[1] / right[1]) if right[1] else None
