"""Takes products apart into a number and two values: so `x * gate(x)` is recognised in all ways of writing it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.ops.add import Add
from buildtool.ops.mul import Mul
from buildtool.passes.editor import Editor

_CLOSE = 1e-5  # relative: models write 1/6 or the square root of 2 with six digits or more


def number(value: Value) -> float | None:
    """The one element of a constant of floating-point numbers."""
    array = value.constant
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 and value.type.dtype.is_float else None


def close(value: float | None, to: float) -> bool:
    return value is not None and bool(np.isclose(value, to, rtol=_CLOSE, atol=0))


@dataclass(frozen=True)
class Product:
    """`factor * left * right`; left and right may be anything."""

    factor: float
    left: Value
    right: Value

    def sides(self) -> tuple[tuple[Value, Value], tuple[Value, Value]]:
        return (self.left, self.right), (self.right, self.left)


def with_number(node: Node) -> tuple[Value, float] | None:
    """The operand and the factor of a node that multiplies by a number, or divides by one."""
    if node.op.name not in ("mul", "div"):
        return None
    orders = [(0, 1), (1, 0)] if node.op.name == "mul" else [(0, 1)]
    for operand, constant in orders:
        factor = number(node.inputs[constant])
        value = node.inputs[operand]
        if factor is not None and value.type == node.outputs[0].type:
            if node.op.name == "mul":
                return value, factor
            return (value, 1 / factor) if factor else None
    return None


def scaled(editor: Editor, value: Value) -> tuple[Value, float]:
    """What a value is a multiple of, seen through products that nobody else reads, and the factor."""
    factor = 1.0
    while (maker := editor.private_maker(value, "mul", "div")) is not None and (found := with_number(maker)):
        value, factor = found[0], factor * found[1]
    return value, factor


def shifted(editor: Editor, value: Value) -> tuple[Value, float] | None:
    """The operand and the number of an addition that nobody else reads."""
    maker = editor.private_maker(value, "add")
    if maker is None or not isinstance(maker.op, Add) or maker.op.activation != "none":
        return None
    for operand, constant in ((0, 1), (1, 0)):
        addend = number(maker.inputs[constant])
        if addend is not None and maker.inputs[operand].type == maker.outputs[0].type:
            return maker.inputs[operand], addend
    return None


def product_at(editor: Editor, node: Node) -> Product | None:
    """The product that a node ends: one that is not the part of a larger product by a number."""
    if node.op.name not in ("mul", "div") or not _is_end(editor, node):
        return None
    factor = 1.0
    inner: Node | None = node
    while inner is not None and (found := with_number(inner)) is not None:
        value, step = found
        factor *= step
        inner = editor.private_maker(value, "mul", "div")
    if inner is None or inner.op.name != "mul":
        return None
    left, by_left = scaled(editor, inner.inputs[0])
    right, by_right = scaled(editor, inner.inputs[1])
    factor *= by_left * by_right
    return Product(factor, left, right) if np.isfinite(factor) and factor else None


def _is_end(editor: Editor, node: Node) -> bool:
    if not editor.is_private(node.outputs[0]):
        return True
    return with_number(editor.readers(node.outputs[0])[0]) is None


def write(editor: Editor, node: Node, op: Operator, x: Value, factor: float = 1.0) -> None:
    """Puts `factor * op(x)` in the place of a node, and removes what is no longer read."""
    operands = list(node.inputs)
    if close(factor, 1.0):
        editor.substitute(node, op, [x])
    else:
        made = editor.insert_before(node, op, [x])
        constant = editor.constant(None, np.asarray(factor, x.type.dtype.numpy))
        editor.substitute(node, Mul(), [made.outputs[0], constant])
    for value in operands:
        editor.sweep(value)


def can_hold(x: Value, node: Node) -> bool:
    """Whether a function of x alone can stand for a node's result."""
    return x.type == node.outputs[0].type and x.type.dtype in (DType.F32, DType.F16, DType.F64) and not x.is_constant
