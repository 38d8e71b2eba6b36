"""Operators of com.microsoft that exporters and optimisers emit, as what they were made of.

The passes fuse again what a target can do at once. The quantised ones stand with those of ONNX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.onnx.handlers.convolution import convolved
from buildtool.importers.onnx.handlers.normalisation import row_normalised
from buildtool.importers.onnx.handlers.products import general_product
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import (
    NO_ACTIVATION,
    channels,
    channels_first,
    channels_last,
    from_channels_last,
    to_channels_last,
)
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType

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


def _activated(step: Step, y: Tensor, numbers: tuple[float, ...]) -> Tensor:
    """What the attribute `activation` makes of a result."""
    activation = step.text("activation", "")
    if not activation:
        return y
    if activation not in _ACTIVATIONS:
        step.unsupported(f"the attribute 'activation' is '{activation}'", f"supported: {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[activation](step, y, numbers)


@handler("com.microsoft.FusedConv")
def fused_convolution(step: Step) -> Tensor:
    y, more = convolved(step, step.input(0)), step.optional(3)
    if more is not None:
        y = _sum(step, y, to_channels_last(step, more))
    y = _activated(step, y, step.reals("activation_params", ()))
    return from_channels_last(step, y, step.input(0).rank)


@handler("com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv")
def convolution_of_channels_last(step: Step) -> Tensor:
    x, more = channels_first(step, step.input(0)), step.optional(3)
    y = channels_last(step, from_channels_last(step, convolved(step, x), x.rank))
    return _activated(step, y if more is None else _sum(step, y, more), step.reals("activation_params", ()))


@handler("com.microsoft.FusedGemm")
def fused_gemm(step: Step) -> Tensor:
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    return _activated(step, general_product(step), tuple(step.real(name) for name in names if step.has(name)))


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


@handler("com.microsoft.BiasSplitGelu")
def bias_split_gelu(step: Step) -> Tensor:
    """The first half of x + bias times the gelu of the second one."""
    total = _sum(step, step.input(0), step.input(1))
    half, rest = divmod(channels(step, total, -1), 2)
    if rest:
        step.malformed(f"{2 * half + 1} numbers have no halves")
    left, right = step.emit_all("split", total, axis=total.rank - 1, sizes=(half, half))
    return step.emit("mul", left, step.emit("gelu", right, approximate="none"))


@handler("com.microsoft.BiasSoftmax")
def bias_softmax(step: Step) -> Tensor:
    """The softmax of x + bias over all axes from `axis` on; the bias lacks outer axes, or has 1 for inner ones."""
    x, bias = step.input(0), step.input(1)
    axis = step.axis(step.integer("axis", 1), x.rank)
    total = _sum(step, x, bias)
    rows = step.reshape(total, (product(x.shape[:axis]), product(x.shape[axis:])))
    return step.reshape(step.emit("softmax", rows, axis=1), x.shape)


@handler("com.microsoft.BiasDropout")
def bias_dropout(step: Step) -> Tensor:
    """As it is when nothing is trained: without the dropout."""
    training = step.optional(4)
    if training is not None and step.known(4, "training_mode").any():
        step.unsupported("the input 'training_mode' is true", "export the model for inference")
    y, residual = _sum(step, step.input(0), step.input(1)), step.optional(2)
    return y if residual is None else _sum(step, y, residual)


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


@handler("com.microsoft.EmbedLayerNormalization")
def embed_layer_normalization(step: Step) -> tuple[Tensor, ...]:
    """The norm of the sum of embeddings: of words, places and segments. The second output counts the ones of a mask."""
    words, segments = step.input(0), step.optional(1)
    places, of_segments, mask, given = step.input(3), step.optional(4), step.optional(7), step.optional(8)
    if given is None:
        given = counted(step, step.check_rank(words, 2, what="its list of words").shape[1], DType.S32)
    total = _sum(step, step.emit("gather", step.input(2), words, axis=0), step.emit("gather", places, given, axis=0))
    if segments is not None and of_segments is not None:
        total = _sum(step, total, step.emit("gather", of_segments, segments, axis=0))
    y = row_normalised(step, "layer_norm", total, 2, step.real("epsilon", 1e-12), (step.input(5), step.input(6)))
    if mask is None:
        ends = step.emit("broadcast_to", step.constant(np.zeros((), words.dtype.numpy)), shape=words.shape[:1])
    else:
        ends = step.emit("reduce_sum", mask, axes=(1,), keepdims=False)
    return y, ends, total


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
