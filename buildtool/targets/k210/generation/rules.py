"""What the rules of the format are about: shapes, functions of one number, and the error that they end in."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops._activation import ActivatedOperator, activate
from buildtool.targets.k210.generation.activation import Function


class NotHereError(Exception):
    """Why a node cannot become a layer: what is wrong, the rule, and what would make it fit."""

    def __init__(self, what: str, rule: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.rule, self.remedy = what, rule, remedy


def shape_of(value: Value) -> tuple[int, ...]:
    return tuple(int(dim) for dim in value.type.shape if isinstance(dim, int))


def activation_of(op: ActivatedOperator) -> list[Function]:
    if op.activation == "none":
        return []
    kind, alpha, beta = op.activation, op.activation_alpha, op.activation_beta
    return [lambda values: activate(values, kind, alpha, beta)]


def scalar_function(node: Node) -> Function | None:
    """What the node makes of each number alone; None where it does something else."""
    op = node.op
    if not op.is_elementwise or len(node.outputs) != 1 or node.outputs[0].type.dtype is not DType.F32:
        return None
    moving = [index for index, value in enumerate(node.inputs) if not value.is_constant]
    if len(moving) != 1 or node.inputs[moving[0]].type.shape != node.outputs[0].type.shape:
        return None
    constants = [value.constant for value in node.inputs]
    if any(one is not None and one.size != 1 for one in constants):
        return None
    numbers = [None if one is None else one.reshape(()) for one in constants]

    def function(values: Array) -> Array:
        operands = [values.astype(np.float32) if one is None else one for one in numbers]
        return np.asarray(op.reference(*operands)[0])

    return function
