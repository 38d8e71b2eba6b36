"""Comparisons, logic on truth values and on bits, and the choice between two tensors."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step

_BINARY = {
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
}
_TURNED = {"Greater": "less", "GreaterOrEqual": "less_equal"}


@handler(*_BINARY)
def binary(step: Step) -> Tensor:
    return step.emit(_BINARY[step.node.op], step.input(0), step.input(1))


@handler(*_TURNED)
def turned(step: Step) -> Tensor:
    return step.emit(_TURNED[step.node.op], step.input(1), step.input(0))


@handler("BitShift")
def bit_shift(step: Step) -> Tensor:
    direction = step.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        step.malformed(f"the attribute 'direction' is '{direction}'")
    return step.emit("bit_shift", step.input(0), step.input(1), direction=direction.lower())


@handler("Where")
def where(step: Step) -> Tensor:
    return step.emit("where", step.input(0), step.input(1), step.input(2))
