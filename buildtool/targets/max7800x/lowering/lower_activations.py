"""Activations of layers: which of them the accelerator has, and the leaky ones as differences of two."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.ops.prelu import Prelu
from buildtool.targets.max7800x.lowering.lower_data import Data, NotHereError, Read, Step, of_data
from buildtool.targets.max7800x.network import Activation


def activation_of(op: object) -> tuple[Activation | None, float | None]:
    assert isinstance(op, ActivatedOperator)
    if op.activation == "none":
        return None, None
    if op.activation == "relu":
        return "relu", None
    if op.activation == "clip" and op.activation_alpha == 0:
        return "relu", op.activation_beta if math.isfinite(op.activation_beta) else None
    raise no_activation(op.activation)


def no_activation(kind: str) -> NotHereError:
    return NotHereError(
        f"its activation is {kind}",
        "layers support relu, relu with a limit, abs, and slopes below zero (leaky relu, prelu) that are not negative",
        "train with relu, or compute the last activation in the program",
    )


def slopes_of(node: Node) -> Array | None:
    """Of a node that is, or ends in, a leaky relu: one, or one for each channel. None where it is none, or a slope is
    negative.
    """
    op = node.op
    if isinstance(op, LeakyRelu):
        slopes = np.array([op.alpha])
    elif isinstance(op, Prelu):
        given, channels = node.inputs[1].constant, node.outputs[0].type.shape[-1]
        if given is None or given.size not in (1, channels) or (given.size > 1 and given.shape[-1] != channels):
            return None
        slopes = given.reshape(-1)
    elif isinstance(op, ActivatedOperator) and op.activation == "leaky_relu":
        slopes = np.array([op.activation_alpha])
    else:
        return None
    return slopes if (slopes >= 0).all() else None


def below_zero(step: Step, slopes: Array) -> tuple[Step, Read]:
    """relu(x) - relu(-slope * x), which is x above zero and slope * x below: what a layer makes less what a second
    one does, whose weights are those of the first times the slopes, negative.
    """
    assert step.weights is not None
    by = -np.broadcast_to(slopes.astype(np.float64), (step.out.channels,))
    out = Data(f"{step.out.name} below zero", step.out.channels, step.out.size, step.out.values)
    other = replace(step, out=out, weights=step.weights * by[:, None, None, None])
    other.bias = None if step.bias is None else step.bias * by
    return other, replace(of_data(step.out), sources=(step.out, out), eltwise="sub")
