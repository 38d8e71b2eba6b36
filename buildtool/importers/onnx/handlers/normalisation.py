"""Normalisations: by stored statistics (batch), per image, per group of channels, per row, and over neighbours."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels, channels_first, channels_last
from buildtool.importers.step import Step
from buildtool.ir.dims import Shape, product


@handler("BatchNormalization")
def batch_normalization(step: Step) -> Tensor | tuple[Tensor, ...]:
    if not step.integer("spatial", 1):
        step.unsupported("statistics of every position", "export the model with opset 9 or later")
    x = _with_channels(step)
    if step.integer("training_mode", 0):
        return _by_statistics_of_the_input(step, x)
    parameters = [step.input(index) for index in range(1, 5)]
    y = step.emit("batch_norm", channels_last(step, x), *parameters, epsilon=step.real("epsilon", 1e-5))
    return channels_first(step, y)


def _by_statistics_of_the_input(step: Step, x: Tensor) -> tuple[Tensor, ...]:
    """Weight standardisation is exported like this: the tensor is a weight, its mean and variance are its own."""
    axes, column = (0, *range(2, x.rank)), (x.shape[1], *(1,) * (x.rank - 2))
    mean = step.emit("reduce_mean", x, axes=axes, keepdims=True)
    apart = step.emit("sub", x, mean)
    variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
    epsilon = step.constant(np.array(step.real("epsilon", 1e-5), x.dtype.numpy))
    deviation = step.emit("sqrt", step.emit("add", variance, epsilon, **NO_ACTIVATION))
    scale, bias = (step.reshape(step.input(index), column) for index in (1, 2))
    scaled = step.emit("mul", step.emit("div", apart, deviation), scale)
    y = step.emit("add", scaled, bias, **NO_ACTIVATION)
    if len(step.node.outputs) == 1:
        return (y,)
    return (y, *(_moved(step, step.input(3 + index), found) for index, found in enumerate((mean, variance))))


def _moved(step: Step, running: Tensor, found: Tensor) -> Tensor:
    """A running statistic after one step towards that of the input."""
    momentum = step.real("momentum", 0.9)
    kept, share = (step.constant(np.array(part, running.dtype.numpy)) for part in (momentum, 1 - momentum))
    ours = step.emit("mul", step.reshape(found, running.shape), share)
    return step.emit("add", step.emit("mul", running, kept), ours, **NO_ACTIVATION)


@handler("InstanceNormalization")
def instance_normalization(step: Step) -> Tensor:
    x = _with_channels(step)
    return _grouped(step, x, step.input(1), step.input(2), channels(step, x))


@handler("GroupNormalization")
def group_normalization(step: Step) -> Tensor:
    """Opset 18 has a scale and a bias for each group, opset 21 for each channel."""
    x = _with_channels(step)
    count, groups = channels(step, x), step.integer("num_groups")
    scale, bias = step.input(1), step.input(2)
    if groups < 1 or count % groups:
        step.malformed(f"{count} channels cannot be divided into {groups} groups")
    if step.opset < 21 and groups != count:
        scale, bias = (_per_channel(step, operand, groups, count) for operand in (scale, bias))
    return _grouped(step, x, scale, bias, groups)


def _per_channel(step: Step, operand: Tensor, groups: int, count: int) -> Tensor:
    """One number for each channel from one for each group."""
    column = step.reshape(operand, (groups, 1))
    ones = step.filled((1, count // groups), 1, operand.dtype)
    return step.reshape(step.emit("mul", column, ones), (count,))


def _grouped(step: Step, x: Tensor, scale: Tensor, bias: Tensor, groups: int) -> Tensor:
    epsilon = step.real("epsilon", 1e-5)
    y = step.emit("group_norm", channels_last(step, x), scale, bias, groups=groups, epsilon=epsilon)
    return channels_first(step, y)


@handler("LRN")
def local_response_normalization(step: Step) -> Tensor:
    x = _with_channels(step)
    y = step.emit(
        "lrn",
        channels_last(step, x),
        size=step.integer("size"),
        alpha=step.real("alpha", 1e-4),
        beta=step.real("beta", 0.75),
        bias=step.real("bias", 1.0),
    )
    return channels_first(step, y)


def _with_channels(step: Step) -> Tensor:
    x = step.input(0)
    if x.rank < 2:
        step.malformed(f"its input has rank {x.rank}, not batch and channels")
    return x


@handler("LayerNormalization")
def layer_normalization(step: Step) -> tuple[Tensor, ...]:
    """The other outputs, mean and 1 / deviation, are computed only where they are asked for."""
    x = step.input(0)
    axis, epsilon = step.axis(step.integer("axis", -1), x.rank), step.real("epsilon", 1e-5)
    y = row_normalised(step, "layer_norm", x, axis, epsilon, (step.input(1), step.optional(2)))
    return (y, *_statistics(step, x, axis, epsilon)) if len(step.node.outputs) > 1 else (y,)


def _statistics(step: Step, x: Tensor, axis: int, epsilon: float) -> tuple[Tensor, Tensor]:
    axes = tuple(range(axis, x.rank))
    mean = step.emit("reduce_mean", x, axes=axes, keepdims=True)
    apart = step.emit("sub", x, mean)
    variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
    shifted = step.emit("add", variance, step.constant(np.array(epsilon, x.dtype.numpy)), **NO_ACTIVATION)
    return mean, step.emit("reciprocal", step.emit("sqrt", shifted))


@handler("RMSNormalization")
def rms_normalization(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.axis(step.integer("axis", -1), x.rank)
    return row_normalised(step, "rms_norm", x, axis, step.real("epsilon", 1e-5), (step.input(1),))


def row_normalised(
    step: Step, op: str, x: Tensor, axis: int, epsilon: float, operands: tuple[Tensor | None, ...]
) -> Tensor:
    """layer_norm or rms_norm with a scale and a bias of any shape that broadcasts to the input."""
    row = x.shape[axis:]
    fitting: list[Tensor] = []
    rest = [operand for operand in operands if operand is not None]
    while rest and _fits(rest[0], row):
        fitting.append(step.reshape(rest.pop(0), row))
    y = step.emit(op, x, *fitting, axis=axis, epsilon=epsilon)
    for position, operand in enumerate(rest, start=len(fitting)):
        y = step.emit("mul", y, operand) if position == 0 else step.emit("add", y, operand, **NO_ACTIVATION)
    return y


def _fits(operand: Tensor, row: Shape) -> bool:
    """Whether an operand has one number for each place in a row."""
    extra = operand.rank - len(row)
    return extra >= 0 and operand.shape[extra:] == row and product(operand.shape[:extra]) == 1
