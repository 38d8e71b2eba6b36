"""Normalisations."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.orders import channels_first
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.dims import is_static, product


@handler("batch_norm", channels_first=True)
def batch_norm(step: Step) -> None:
    rank = step.value(0).type.rank
    statistics = [step.input(index) for index in range(1, 5)]
    epsilon = step.op.epsilon
    if rank > 1:
        y = step.emit("BatchNormalization", step.input(0, channels_first(rank)), *statistics, epsilon=epsilon)
        step.give(y, order=channels_first(rank))
        return
    shape = step.type().shape
    x = step.reshaped(step.forms.name(step.value(0)), shape, (1, *shape))
    y = step.emit("BatchNormalization", x, *statistics, epsilon=epsilon)
    step.give(step.reshaped(y, (1, *shape), shape))


@handler("group_norm", channels_first=True)
def group_norm(step: Step) -> None:
    rank = step.value(0).type.rank
    order = channels_first(rank)
    x, scale, bias = step.input(0, order), step.input(1), step.input(2)
    if rank == 2:  # instances need an axis to be taken over
        shape = step.type().shape
        x = step.reshaped(x, shape, (*shape, 1))
    if step.op.groups == step.value(1).type.shape[0]:
        y = step.emit("InstanceNormalization", x, scale, bias, epsilon=step.op.epsilon)
    else:
        y = step.emit("GroupNormalization", x, scale, bias, epsilon=step.op.epsilon, num_groups=step.op.groups)
    step.give(step.reshaped(y, (*shape, 1), shape) if rank == 2 else y, order=order)


@handler("layer_norm")
def layer_norm(step: Step) -> None:
    operands = step.inputs()
    if len(operands) == 1:
        operands.append(_ones(step))
    step.give(step.emit("LayerNormalization", *operands, axis=step.op.axis, epsilon=step.op.epsilon))


@handler("rms_norm")
def rms_norm(step: Step) -> None:
    operands = step.inputs()
    if len(operands) == 1:
        operands.append(_ones(step))
    step.give(step.emit("RMSNormalization", *operands, axis=step.op.axis, epsilon=step.op.epsilon))


def _ones(step: Step) -> str:
    """The scale that ONNX asks for where there is none; a single 1 where the shape is known only at run time."""
    shape = step.type().shape[step.op.axis :]
    sizes = [dim for dim in shape if isinstance(dim, int)] if is_static(shape) else [1]
    return step.writer.constant(np.ones(sizes, step.dtype.numpy), step.dtype, "ones")


@handler("lrn", channels_first=True)
def lrn(step: Step) -> None:
    op, rank = step.op, step.value(0).type.rank
    shown = {"size": op.size, "alpha": op.alpha, "beta": op.beta, "bias": op.bias}
    usual = op.size % 2 == 1 and op.alpha > 0 and op.beta > 0
    if rank == 4 and usual:
        order = channels_first(4)
        step.give(step.emit("LRN", step.input(0, order), **shown), order=order)
        return
    shape = step.type().shape
    pixels, channels = product(shape[:-1]), shape[-1]
    flat = (pixels, channels, 1, 1) if usual else (pixels, 1, channels, 1)
    x = step.reshaped(step.input(0), shape, flat)
    y = step.emit("LRN", x, **shown) if usual else _spelled_out(step, x)
    step.give(step.reshaped(y, flat, shape))


def _spelled_out(step: Step, x: str) -> str:
    """LRN with a mean along the channels, where runtimes refuse it: an even size, factors that are not positive."""
    op = step.op
    before = (op.size - 1) // 2
    mean = step.emit(
        "AveragePool",
        step.emit("Mul", x, x),
        kernel_shape=[op.size, 1],
        pads=[before, 0, op.size - 1 - before, 0],
        count_include_pad=1,
    )
    base = step.emit("Add", step.emit("Mul", mean, step.number(op.alpha)), step.number(op.bias))
    return step.emit("Div", x, step.emit("Pow", base, step.number(op.beta)))
