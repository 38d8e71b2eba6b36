"""Functions of `keras.ops` and operators between tensors, which are nodes of a model in Keras 3."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.activation import apply
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import floating, only, plus, refuse_keywords, tensors
from buildtool.importers.step import Step

_BINARY = {
    "ops.Subtract": "sub",
    "ops.Multiply": "mul",
    "ops.Divide": "div",
    "ops.TrueDivide": "div",
    "ops.Maximum": "maximum",
    "ops.Minimum": "minimum",
    "ops.Power": "pow",
}
_UNARY = {
    "ops.Absolute": "abs",
    "ops.Abs": "abs",
    "ops.Cos": "cos",
    "ops.Exp": "exp",
    "ops.Log": "log",
    "ops.Negative": "neg",
    "ops.Sin": "sin",
    "ops.Sqrt": "sqrt",
}
_ACTIVATIONS = {
    "ops.Relu": "relu",
    "ops.Relu6": "relu6",
    "ops.Sigmoid": "sigmoid",
    "ops.Silu": "silu",
    "ops.Softplus": "softplus",
    "ops.Softsign": "softsign",
    "ops.Tanh": "tanh",
}
_REDUCTIONS = {"ops.Mean": "reduce_mean", "ops.Sum": "reduce_sum", "ops.Max": "reduce_max", "ops.Min": "reduce_min"}


def _pair(step: Step) -> tuple[Tensor, Tensor]:
    """Two tensors of one type: plain numbers take that of the other one."""
    refuse_keywords(step)
    given = tensors(step)
    if len(given) != 2:
        step.unsupported(f"a call with {len(given)} tensors", "call it with two")
    if any(tensor.dtype.is_float for tensor in given) or step.node.op in ("TrueDivide", "Divide"):
        given = [floating(step, tensor) for tensor in given]
    return given[0], given[1]


@handler("ops.Add")
def add(step: Step) -> Tensor:
    return plus(step, *_pair(step))


@handler(*_BINARY)
def binary(step: Step) -> Tensor:
    return step.emit(_BINARY[step.node.title], *_pair(step))


@handler(*_UNARY)
def unary(step: Step) -> Tensor:
    return step.emit(_UNARY[step.node.title], floating(step, only(step)))


@handler("ops.Square")
def square(step: Step) -> Tensor:
    x = only(step)
    return step.emit("mul", x, x)


@handler(*_ACTIVATIONS)
def activation(step: Step) -> Tensor:
    return apply(step, floating(step, only(step)), _ACTIVATIONS[step.node.title], {})


@handler(*_REDUCTIONS)
def reduction(step: Step) -> Tensor:
    x, stated = floating(step, only(step)), step.attribute("axis")
    listed = [int(item) for item in stated if isinstance(item, int)] if isinstance(stated, tuple) else []
    if isinstance(stated, int):
        listed = [stated]
    axes = step.axes(listed, x.rank) if stated is not None else tuple(range(x.rank))
    return step.emit(
        _REDUCTIONS[step.node.title], x, axes=tuple(sorted(axes)), keepdims=step.integer("keepdims", 0) != 0
    )
