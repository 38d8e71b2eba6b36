"""Operators of com.microsoft that exporters and optimisers emit, as what they were made of.

The passes fuse again what a target can do at once. The quantised ones stand with those of ONNX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.handlers.convolution import convolved
from buildtool.importers.onnx.handlers.normalisation import row_normalised
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, from_channels_last, to_channels_last
from buildtool.importers.step import Step

_Activation: TypeAlias = Callable[[Step, Tensor, tuple[float, ...]], Tensor]


def _hard_sigmoid(step: Step, x: Tensor, numbers: tuple[float, ...]) -> Tensor:
    alpha, beta = numbers or (0.2, 0.5)
    return step.emit("hard_sigmoid", x, alpha=alpha, beta=beta)


def _clip(step: Step, x: Tensor, numbers: tuple[float, ...]) -> Tensor:
    low, high = numbers
    return step.emit("clip", x, low=low, high=high)


#: What FusedConv may end with; its parameters come in the order of the attributes of the single operator.
_ACTIVATIONS: Mapping[str, _Activation] = {
    "Relu": lambda step, x, _: step.emit("relu", x),
    "Tanh": lambda step, x, _: step.emit("tanh", x),
    "Sigmoid": lambda step, x, _: step.emit("sigmoid", x),
    "LeakyRelu": lambda step, x, numbers: step.emit("leaky_relu", x, alpha=numbers[0] if numbers else 0.01),
    "Clip": _clip,
    "HardSigmoid": _hard_sigmoid,
}


@handler("com.microsoft.FusedConv")
def fused_convolution(step: Step) -> Tensor:
    y, more = convolved(step), step.optional(3)
    if more is not None:
        y = _sum(step, y, to_channels_last(step, more))
    activation = step.text("activation", "")
    if activation:
        if activation not in _ACTIVATIONS:
            step.unsupported(f"the activation '{activation}'", f"supported: {', '.join(_ACTIVATIONS)}")
        y = _ACTIVATIONS[activation](step, y, step.reals("activation_params", ()))
    return from_channels_last(step, y, step.input(0).rank)


@handler("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_matmul(step: Step) -> Tensor:
    """alpha * A @ B, either of which may come transposed, and with its first axis in front of the last two."""
    operands = []
    for index, name in enumerate("AB"):
        x = step.input(index)
        if step.integer(f"transBatch{name}", 0):  # [M, batch..., K] -> [batch..., M, K]
            x = step.transpose(x, (*range(1, x.rank - 1), 0, x.rank - 1))
        if step.integer(f"trans{name}", 0) and x.rank > 1:
            x = step.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))
        operands.append(x)
    y, alpha = step.emit("matmul", *operands), step.real("alpha", 1.0)
    return y if alpha == 1.0 else step.emit("mul", y, step.constant(np.array(alpha, y.dtype.numpy)))


@handler("com.microsoft.Gelu")
def gelu(step: Step) -> Tensor:
    return step.emit("gelu", step.input(0), approximate="none")


@handler("com.microsoft.BiasGelu")
def bias_gelu(step: Step) -> Tensor:
    return step.emit("gelu", _sum(step, step.input(0), step.input(1)), approximate="none")


@handler("com.microsoft.FastGelu")
def fast_gelu(step: Step) -> Tensor:
    x, bias = step.input(0), step.optional(1)
    return step.emit("gelu", x if bias is None else _sum(step, x, bias), approximate="tanh")


@handler("com.microsoft.QuickGelu")
def quick_gelu(step: Step) -> Tensor:
    x, alpha = step.input(0), step.real("alpha", 1.702)
    scaled = step.emit("mul", x, step.constant(np.array(alpha, x.dtype.numpy)))
    return step.emit("mul", x, step.emit("sigmoid", scaled))


@handler("com.microsoft.BiasAdd")
def bias_add(step: Step) -> Tensor:
    return _sum(step, _sum(step, step.input(0), step.input(1)), step.input(2))


@handler("SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization")
def simplified_layer_normalization(step: Step) -> Tensor:
    """onnxruntime's name for RMSNormalization, in the default domain too."""
    x = step.input(0)
    axis = step.axis(step.integer("axis", -1), x.rank)
    return row_normalised(step, "rms_norm", x, axis, step.real("epsilon", 1e-5), (step.input(1),))


@handler("com.microsoft.LayerNormalization")
def layer_normalization(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.axis(step.integer("axis", -1), x.rank)
    return row_normalised(step, "layer_norm", x, axis, step.real("epsilon", 1e-5), (step.input(1), step.optional(2)))


@handler("com.microsoft.SkipLayerNormalization")
def skip_layer_normalization(step: Step) -> tuple[Tensor, ...]:
    operands = (step.input(2), step.optional(3))
    return _of_sum(step, "layer_norm", operands, step.optional(4))


@handler("com.microsoft.SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(step: Step) -> tuple[Tensor, ...]:
    return _of_sum(step, "rms_norm", (step.input(2),), step.optional(3))


def _of_sum(step: Step, op: str, operands: tuple[Tensor | None, ...], bias: Tensor | None) -> tuple[Tensor, ...]:
    """The norm of a sum, which is the fourth output; the second and third are for training."""
    total = _sum(step, step.input(0), step.input(1))
    if bias is not None:
        total = _sum(step, total, bias)
    y = row_normalised(step, op, total, total.rank - 1, step.real("epsilon", 1e-12), operands)
    outputs = (*step.node.outputs, "", "", "")
    if outputs[1] or outputs[2]:
        step.unsupported("the statistics of the norm", "export the model for inference")
    return (y, y, y, total) if outputs[3] else (y,)


def _sum(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("add", a, b, **NO_ACTIVATION)
