"""Operators that work on each element by itself."""

from __future__ import annotations

import functools

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.composed import angle_of, floor_quotient, selected
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import activated, real, stored
from buildtool.ir.types import DType

_UNARY = {
    "ABS": "abs",
    "CEIL": "ceil",
    "COS": "cos",
    "EXP": "exp",
    "FLOOR": "floor",
    "HARD_SWISH": "hard_swish",
    "LOG": "log",
    "LOGISTIC": "sigmoid",
    "NEG": "neg",
    "RELU": "relu",
    "ROUND": "round",
    "SIGN": "sign",
    "SIN": "sin",
    "SQRT": "sqrt",
    "TANH": "tanh",
}
_BOUNDED = {"RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU_0_TO_1": (0.0, 1.0)}
_ARITHMETIC = {"SUB": "sub", "MUL": "mul", "DIV": "div"}
_BINARY = {"MAXIMUM": "maximum", "MINIMUM": "minimum", "POW": "pow"}
_COMPARISONS = {
    "EQUAL": ("equal", False, False),  # the operator, whether operands change places, whether it is denied
    "NOT_EQUAL": ("equal", False, True),
    "LESS": ("less", False, False),
    "GREATER": ("less", True, False),
    "LESS_EQUAL": ("less_equal", False, False),
    "GREATER_EQUAL": ("less_equal", True, False),
}


@handler(*_UNARY)
def unary(step: Step) -> Tensor:
    return stored(step, step.emit(_UNARY[step.node.op], real(step, 0)))


@handler(*_BOUNDED)
def bounded(step: Step) -> Tensor:
    low, high = _BOUNDED[step.node.op]
    return stored(step, step.emit("clip", real(step, 0), low=low, high=high))


@handler("SQUARE")
def square(step: Step) -> Tensor:
    x = real(step, 0)
    return stored(step, step.emit("mul", x, x))


@handler("RSQRT")
def reciprocal_root(step: Step) -> Tensor:
    return stored(step, step.emit("reciprocal", step.emit("sqrt", real(step, 0))))


@handler("ELU")
def elu(step: Step) -> Tensor:
    return stored(step, step.emit("elu", real(step, 0), alpha=1.0))


@handler("LEAKY_RELU")
def leaky_relu(step: Step) -> Tensor:
    return stored(step, step.emit("leaky_relu", real(step, 0), alpha=step.real("alpha")))


@handler("PRELU")
def prelu(step: Step) -> Tensor:
    return stored(step, step.emit("prelu", real(step, 0), real(step, 1)))


@handler("GELU")
def gelu(step: Step) -> Tensor:
    approximate = "tanh" if step.integer("approximate", 0) else "none"
    return stored(step, step.emit("gelu", real(step, 0), approximate=approximate))


@handler("CAST")
def cast(step: Step) -> Tensor:
    return step.emit("cast", step.input(0), to=step.made_dtype(0))


# -- of two tensors ----------------------------------------------------------------------------------------------------
@handler("ADD")
def add(step: Step) -> Tensor:
    return stored(step, activated(step, step.emit("add", real(step, 0), real(step, 1), **NO_ACTIVATION)))


@handler(*_ARITHMETIC)
def arithmetic(step: Step) -> Tensor:
    return stored(step, activated(step, step.emit(_ARITHMETIC[step.node.op], real(step, 0), real(step, 1))))


@handler(*_BINARY)
def binary(step: Step) -> Tensor:
    return stored(step, step.emit(_BINARY[step.node.op], real(step, 0), real(step, 1)))


@handler("RIGHT_SHIFT")
def right_shift(step: Step) -> Tensor:
    return step.emit("bit_shift", step.input(0), step.input(1), direction="right")


@handler("BITCAST")
def bitcast(step: Step) -> Tensor:
    return step.emit("bitcast", step.input(0), to=step.made_dtype(0))


@handler("ATAN2")
def angle(step: Step) -> Tensor:
    return angle_of(step, step.input(0), step.input(1))


@handler("ADD_N")
def total(step: Step) -> Tensor:
    tensors = step.present()
    return functools.reduce(lambda left, right: step.emit("add", left, right, **NO_ACTIVATION), tensors)


@handler("SQUARED_DIFFERENCE")
def squared_difference(step: Step) -> Tensor:
    difference = step.emit("sub", real(step, 0), real(step, 1))
    return stored(step, step.emit("mul", difference, difference))


@handler("FLOOR_MOD")
def floor_modulo(step: Step) -> Tensor:
    return stored(step, step.emit("mod", real(step, 0), real(step, 1), fmod=False))


@handler("FLOOR_DIV")
def floor_division(step: Step) -> Tensor:
    return stored(step, floor_quotient(step, real(step, 0), real(step, 1)))


@handler(*_COMPARISONS)
def comparison(step: Step) -> Tensor:
    op, swapped, denied = _COMPARISONS[step.node.op]
    a, b = real(step, 0), real(step, 1)
    y = step.emit(op, b, a) if swapped else step.emit(op, a, b)
    return step.emit("logical_not", y) if denied else y


@handler("LOGICAL_NOT")
def logical_not(step: Step) -> Tensor:
    return step.emit("logical_not", step.input(0))


@handler("LOGICAL_AND", "LOGICAL_OR", "BITWISE_XOR")
def logical(step: Step) -> Tensor:
    a, b = step.input(0), step.input(1)
    if step.node.op == "BITWISE_XOR":
        return step.emit("logical_xor" if a.dtype is DType.BOOL else "bitwise_xor", a, b)
    return step.emit(step.node.op.lower(), a, b)


@handler("SELECT", "SELECT_V2")
def select(step: Step) -> Tensor:
    condition, a, b = step.input(0), real(step, 1), real(step, 2)
    return stored(step, selected(step, condition, a, b, rows=step.node.op == "SELECT"))


@handler("ZEROS_LIKE")
def zeros_like(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit("broadcast_to", step.constant(np.zeros((), x.dtype.numpy)), shape=x.shape)
