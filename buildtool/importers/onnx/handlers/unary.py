"""Operators of one input that the graph has under another name, with or without attributes."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.oldest_versions import SLOPE_PER_CHANNEL
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step

_PLAIN = {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Abs": "abs",
    "Neg": "neg",
    "Floor": "floor",
    "Ceil": "ceil",
    "Erf": "erf",
    "Reciprocal": "reciprocal",
    "Softplus": "softplus",
    "HardSwish": "hard_swish",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Round": "round",
    "Sign": "sign",
    "Softsign": "softsign",
    "Mish": "mish",
    "IsNaN": "is_nan",
    "Not": "logical_not",
    "BitwiseNot": "bitwise_not",
}


@handler(*_PLAIN)
def plain(step: Step) -> Tensor:
    return step.emit(_PLAIN[step.node.op], step.input(0))


@handler("LeakyRelu")
def leaky_relu(step: Step) -> Tensor:
    return step.emit("leaky_relu", step.input(0), alpha=step.real("alpha", 0.01))


@handler("Elu")
def elu(step: Step) -> Tensor:
    return step.emit("elu", step.input(0), alpha=step.real("alpha", 1.0))


@handler("HardSigmoid")
def hard_sigmoid(step: Step) -> Tensor:
    return step.emit("hard_sigmoid", step.input(0), alpha=step.real("alpha", 0.2), beta=step.real("beta", 0.5))


@handler("Gelu")
def gelu(step: Step) -> Tensor:
    return step.emit("gelu", step.input(0), approximate=step.text("approximate", "none"))


@handler("Celu")
def celu(step: Step) -> Tensor:
    return step.emit("celu", step.input(0), alpha=step.real("alpha", 1.0))


@handler("Selu")
def selu(step: Step) -> Tensor:
    alpha, gamma = step.real("alpha", 1.6732631921768188), step.real("gamma", 1.0507010221481323)
    return step.emit("selu", step.input(0), alpha=alpha, gamma=gamma)


@handler("ThresholdedRelu")
def thresholded_relu(step: Step) -> Tensor:
    return step.emit("thresholded_relu", step.input(0), alpha=step.real("alpha", 1.0))


@handler("Shrink")
def shrink(step: Step) -> Tensor:
    return step.emit("shrink", step.input(0), lambd=step.real("lambd", 0.5), bias=step.real("bias", 0.0))


@handler("IsInf")
def is_inf(step: Step) -> Tensor:
    negative, positive = step.integer("detect_negative", 1), step.integer("detect_positive", 1)
    return step.emit("is_inf", step.input(0), negative=bool(negative), positive=bool(positive))


@handler("Swish")
def swish(step: Step) -> Tensor:
    return _swish(step, step.input(0))


@handler("SwiGLU")
def swish_gate(step: Step) -> Tensor:
    return step.emit("mul", _swish(step, step.input(0)), step.input(1))


def _swish(step: Step, x: Tensor) -> Tensor:
    """x * sigmoid(alpha * x)."""
    alpha = step.real("alpha", 1.0)
    if alpha == 1.0:
        return step.emit("swish", x)
    scaled = step.emit("mul", x, step.constant(np.array(alpha, x.dtype.numpy)))
    return step.emit("mul", x, step.emit("sigmoid", scaled))


@handler("PRelu")
def prelu(step: Step) -> Tensor:
    x, slope = step.input(0), step.input(1)
    # Exporters also write a row of slopes for the channels where it fits no other axis.
    per_channel = step.integer(SLOPE_PER_CHANNEL, 0) or not _fits_last_axis(x, slope)
    if slope.rank == 1 and slope.shape == x.shape[1:2] and per_channel:
        slope = step.reshape(slope, (*slope.shape, *(1,) * (x.rank - 2)))
    return step.emit("prelu", _as_wide_as(step, x, slope), slope)


def _fits_last_axis(x: Tensor, slope: Tensor) -> bool:
    return 1 in (*x.shape[-1:], *slope.shape[-1:]) or x.shape[-1:] == slope.shape[-1:]


def _as_wide_as(step: Step, x: Tensor, slope: Tensor) -> Tensor:
    """The operator set lets slopes broadcast to the input only; the runtimes broadcast both to each other."""
    rank = max(x.rank, slope.rank)
    ours, theirs = ((1,) * (rank - tensor.rank) + tensor.shape for tensor in (x, slope))
    shape = tuple(other if own == 1 else own for own, other in zip(ours, theirs, strict=True))
    return x if shape == x.shape else step.emit("broadcast_to", x, shape=shape)


@handler("Identity")
def identity(step: Step) -> Tensor:
    return step.emit("identity", step.input(0))


@handler("Dropout")
def dropout(step: Step) -> tuple[Tensor, ...]:
    """For inference nothing is dropped: the mask, where it is read, keeps everything."""
    x = step.input(0)
    if step.optional(2) is not None and step.known_number(2, "training_mode") != 0:
        step.unsupported("a dropout in training mode", "export the model for inference")
    y = step.emit("identity", x)
    if len(step.node.outputs) < 2 or not step.node.outputs[1]:
        return (y,)
    one = step.constant(np.ones((), np.bool_ if step.opset >= 10 else x.dtype.numpy))
    return y, step.emit("broadcast_to", one, shape=x.shape)
