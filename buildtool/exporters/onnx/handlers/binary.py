"""Operators of several operands that go element by element."""

from __future__ import annotations

from buildtool.exporters.onnx.handlers.activations import activated
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.types import DType

_SAME = {
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "div": "Div",
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "maximum": "Max",
    "minimum": "Min",
    "mul": "Mul",
    "pow": "Pow",
    "prelu": "PRelu",
    "sub": "Sub",
    "where": "Where",
}
_UNSIGNED = {DType.S8: DType.U8, DType.S16: DType.U16, DType.S32: DType.U32, DType.S64: DType.U64}


@handler(*_SAME)
def same(step: Step) -> None:
    step.give(step.compute(_SAME[step.op.name], *step.inputs()))


@handler("add")
def add(step: Step) -> None:
    step.give(activated(step, step.emit("Add", *step.inputs())))


@handler("mod")
def mod(step: Step) -> None:
    a, b = step.inputs()
    if not step.dtype.is_float or step.op.fmod:
        step.give(step.emit("Mod", a, b, fmod=int(step.op.fmod or step.dtype.is_float)))
        return
    rest = step.emit("Mod", a, b, fmod=1)  # has the sign of a: one b more where that is not the sign of b
    zero = step.number(0)
    differ = step.emit("Xor", step.emit("Less", rest, zero), step.emit("Less", b, zero))
    there = step.emit("Not", step.emit("Equal", rest, zero))
    step.give(step.emit("Where", step.emit("And", differ, there), step.emit("Add", rest, b), rest))


@handler("bit_shift")
def bit_shift(step: Step) -> None:
    """ONNX shifts unsigned numbers only, and by less than their width."""
    a, b = step.inputs()
    dtype, left = step.dtype, step.op.direction == "left"
    width = step.number(8 * dtype.itemsize)
    zero = step.number(0)
    past = step.emit("Not", step.emit("Less", b, width))
    below = step.emit("Less", a, zero) if dtype in _UNSIGNED else ""
    if below:
        past = step.emit("Or", past, step.emit("Less", b, zero))
    places = step.emit("Where", past, zero, b)
    # What fills from the left is the sign: shift the complement of a negative number, and take the complement again.
    turned = step.emit("Where", below, step.emit("BitwiseNot", a), a) if below and not left else a
    unsigned = _UNSIGNED.get(dtype, dtype)
    operands = [step.cast(name, unsigned) if below else name for name in (turned, places)]
    shifted = step.emit("BitShift", *operands, direction="LEFT" if left else "RIGHT")
    y = step.emit("Where", past, zero, step.cast(shifted, dtype) if below else shifted)
    step.give(step.emit("Where", below, step.emit("BitwiseNot", y), y) if below and not left else y)
