"""Layers whose activations have 16 bits. What this module has no layer for is computed in floating point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from buildtool.ir.graph import Node, StoredLayer
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.softmax import Softmax
from buildtool.targets.micro.fixed_point import multiplier_of
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError, Pending, shape_of
from buildtool.targets.micro.network import (
    AddShort,
    AveragePoolShort,
    ConvShort,
    CurveShort,
    DepthwiseShort,
    Layer,
    MulShort,
    RescaleShort,
    SoftmaxShort,
    Tensor,
    Window,
)

#: Kinds of stored layers.
KINDS = ("conv16", "depthwise16", "dense16")
_OUTPUTS = 2.0**-15  # the scale of sigmoid, tanh and softmax


def is_short(*tensors: Tensor) -> bool:
    """Whether a layer of these tensors is one of 16 bits: all have them."""
    found = {tensor.dtype == "int16" for tensor in tensors}
    if len(found) > 1:
        raise NoLayerError("bytes become 16 bits, or 16 bits bytes")
    return found == {True}


def product(state: Lowering, node: Node, stored: StoredLayer) -> None:
    """A convolution or a product with a matrix."""
    numbers, arrays = stored.numbers, stored.arrays
    (value,) = stored.outputs
    source = state.quantised_input(stored.inputs[0], numbers["input_scale"], 0)
    output = Tensor(value.name, shape_of(value), numbers["output_scale"], 0, "int16")
    weights, scales = arrays["weights"], arrays["scales"]
    reals = [source.scale * float(scale) / output.scale for scale in np.broadcast_to(scales, (len(weights),))]
    found = [multiplier_of(real) for real in reals]
    kind = DepthwiseShort if stored.kind == "depthwise16" else ConvShort
    one = (1, 1)
    window = Window(weights.shape[1:3], one, (0, 0))
    if stored.kind != "dense16":
        strides, pads, dilations = (
            tuple(int(numbers[f"{word}_{axis}"]) for axis in "hw") for word in ("stride", "pad", "dilation")
        )
        window = Window(tuple(weights.shape[1:3]), strides, pads, dilations)
        if source.shape[0] != 1:
            raise NoLayerError("a batch of several images", "set the batch size to 1")
    layer = kind(
        name=node.name or value.name,
        inputs=(source,),
        output=output,
        low=int(numbers["low"]),
        high=int(numbers["high"]),
        window=window,
        weights=weights,
        bias=arrays["bias"],
        multipliers=tuple(multiplier for multiplier, _ in found),
        shifts=tuple(shift for _, shift in found),
        exact=stored.kind == "dense16",
        rows=source.elements // weights[0].size if stored.kind == "dense16" else 0,
    )
    state.add(value, layer)


def _add(pending: Pending, about: dict[str, Any]) -> Layer:
    first, second = pending.inputs
    twice = 2.0 * max(first.scale, second.scale)
    reals = (first.scale / twice, second.scale / twice, twice / ((1 << 15) * float(about["output"].scale)))
    (m0, s0), (m1, s1), (m2, s2) = (multiplier_of(real) for real in reals)
    return AddShort(multipliers=(m0, m1, m2), shifts=(s0, s1, s2), **about)


def _mul(pending: Pending, about: dict[str, Any]) -> Layer:
    first, second = pending.inputs
    multiplier, shift = multiplier_of(float(first.scale) * float(second.scale) / float(about["output"].scale))
    return MulShort(multiplier=multiplier, shift=shift, **about)


def _rescale(pending: Pending, about: dict[str, Any]) -> Layer:
    multiplier, shift = multiplier_of(float(pending.inputs[0].scale) / float(about["output"].scale))
    return RescaleShort(multiplier=multiplier, shift=shift, **about)


def _average(pending: Pending, about: dict[str, Any]) -> Layer:
    op = pending.node.op if pending.node else None
    assert isinstance(op, AvgPool2d)
    if pending.inputs[0].scale != about["output"].scale or tuple(op.dilations) != (1, 1):
        raise NoLayerError("an average pool with dilations, or whose input and output have different scales")
    return AveragePoolShort(window=Window(op.kernel, op.strides, op.pads[:2]), **about)


def _curve(pending: Pending, about: dict[str, Any]) -> Layer:
    """LiteRT takes the factor 3 for steps of 1 / 4096, and else at least 14 bits of it."""
    if about["output"].scale != _OUTPUTS:
        raise NoLayerError(f"a {pending.op} of 16 bits whose results have the scale {about['output'].scale:g}")
    scale = float(pending.inputs[0].scale)
    shift = 0
    if scale in (2.0**-12, 2.0**-11):
        multiplier = 3 << int(np.log2(scale) + 12)
    else:
        factor = scale * 4096.0 * 3.0
        while factor <= 32767.0 / 2.0 and shift <= 30:
            factor, shift = factor * 2.0, shift + 1
        multiplier = int(factor)
    return CurveShort(curve=pending.op, multiplier=multiplier, shift=shift, **about)


def _softmax(pending: Pending, about: dict[str, Any]) -> Layer:
    (source,), op = pending.inputs, pending.node.op if pending.node else None
    assert isinstance(op, Softmax)
    if op.axis != len(source.shape) - 1 or about["output"].scale != _OUTPUTS:
        raise NoLayerError("a softmax of 16 bits over another axis than the last, or with another scale than 1/32768")
    multiplier, shift = multiplier_of(float(source.scale) / (10.0 / 65535.0))
    return SoftmaxShort(multiplier=multiplier, shift=shift, **about)


#: By the operator of a pending value.
LAYERS: dict[str, Callable[[Pending, dict[str, Any]], Layer]] = {
    "stored": _rescale,
    "average": _average,
    "add": _add,
    "mul": _mul,
    "sigmoid": _curve,
    "tanh": _curve,
    "softmax": _softmax,
}
