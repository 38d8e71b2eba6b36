"""Convolutions and products with matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ops.qlinear_conv import QlinearConv
from buildtool.targets.micro.fixed_point import multiplier_of
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError, constant, scale_of, shape_of
from buildtool.targets.micro.network import (
    Conv,
    ConvNibbles,
    Dense,
    DenseNibbles,
    Depthwise,
    DepthwiseNibbles,
    Tensor,
    Window,
)


def convolution(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, QlinearConv)
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *bias = node.inputs
    source = state.quantised_input(x, *scale_of(x_scale, x_zero))
    weights = constant(w)
    if source.dtype != "int8" or weights.dtype != np.int8:
        raise NoLayerError("a convolution of unsigned bytes", "quantise the model to int8 with symmetric weights")
    if np.any(constant(w_zero)):
        raise NoLayerError("the weights have a zero point", "quantise the model to int8 with symmetric weights")
    scale, zero = scale_of(y_scale, y_zero)
    output = Tensor(node.outputs[0].name, shape_of(node.outputs[0]), scale, zero)
    made = weights.shape[0]
    found = [multiplier_of(real) for real in _factors(source, constant(w_scale).astype(np.float32), scale, made)]
    about: dict[str, Any] = {
        "name": node.name or node.outputs[0].name,
        "inputs": (source,),
        "output": output,
        "bias": np.zeros(made, np.int32) if not bias else np.broadcast_to(constant(bias[0]).reshape(-1), (made,)),
        "multipliers": tuple(multiplier for multiplier, _ in found),
        "shifts": tuple(shift for _, shift in found),
    }
    matrix = source in state.aliases or constant(w_scale).ndim == 0
    state.add(node.outputs[0], _layer(op, source, weights, about, matrix=matrix))


def _factors(source: Tensor, scales: Array, scale: float, made: int) -> list[float]:
    """From sums to stored results. LiteRT multiplies a single scale of the weights in single precision."""
    if scales.ndim == 0 and source.shape[1:3] == (1, 1):
        return [float(np.float32(source.scale) * scales) / scale] * made
    return [float(source.scale) * float(each) / scale for each in np.broadcast_to(scales.reshape(-1), (made,))]


def _layer(op: QlinearConv, source: Tensor, weights: Any, about: dict[str, Any], *, matrix: bool) -> Conv | Dense:
    """A product with a matrix arrives as a convolution of one point behind a reshape, or with one scale."""
    if source.shape[0] != 1 and weights.shape[1:3] != (1, 1):
        raise NoLayerError("a batch of several images", "set the batch size to 1")
    few = bool(np.min(weights) >= -8 and np.max(weights) <= 7)  # 4 bits, whatever the file stores
    if weights.shape[1:3] == (1, 1) and source.shape[1:3] == (1, 1) and op.groups == 1 and matrix:
        made = DenseNibbles if few else Dense
        return made(rows=source.shape[0], weights=weights.reshape(weights.shape[0], -1), **about)
    window = Window(tuple(weights.shape[1:3]), op.strides, op.pads[:2], op.dilations)
    if op.groups == 1:
        return (ConvNibbles if few else Conv)(window=window, weights=weights, **about)
    if op.groups == source.shape[3] and weights.shape[3] == 1:
        return (DepthwiseNibbles if few else Depthwise)(window=window, weights=weights, **about)
    raise NoLayerError(f"a convolution of {op.groups} groups", "one group, or one for each channel, is supported")
