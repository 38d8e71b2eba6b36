"""What a layer of the KPU computes, as nodes of a graph."""

from __future__ import annotations

import numpy as np

from buildtool.ir.graph import Value
from buildtool.ir.types import DType
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.tables import Activation
from buildtool.targets.k210.generation.rules import shape_of
from buildtool.targets.k210.simulation import kpu
from buildtool.targets.k210.simulation.extents import Nodes

_LAST_BYTE = 255


def make(nodes: Nodes, layer: Conv, planes: Value, *, wide_weights: bool) -> Value:
    """Planes [1, rows, columns, channels] of others: sums, batch norm, activation, pool."""
    sums = _sums(nodes, layer, planes, kpu.kernels(layer, wide_weights=wide_weights))
    norms = np.array([(norm.mul, norm.add, norm.shift) for norm in layer.batch_norm], np.float64)
    mul, add, shift = norms.T
    scaled = nodes("floor", nodes("mul", sums, mul * 2.0**-shift))
    return _pool(nodes, layer, _activated(nodes, layer.activation, nodes("add", scaled, add)))


def _sums(nodes: Nodes, layer: Conv, planes: Value, weights: kpu.Wide) -> Value:
    argument = layer.argument
    border = weights.shape[-1] // 2
    if border:
        around = (0, border, border, 0)
        planes = nodes("pad", planes, before=around, after=around, mode="constant", value=float(argument.pad_value))
    # Without a shift, the term of the input is that of weights which are larger by as much.
    shifted = bool(argument.arg_x and argument.shr_x)
    kernels = weights + (0 if shifted else argument.arg_x)
    of_w = (argument.arg_w * weights.sum(axis=(2, 3)) >> argument.shr_w).sum(axis=1)
    bias = of_w + argument.arg_add * (1 if argument.depthwise else argument.in_channels)
    if argument.depthwise:
        sums = nodes("dwconv2d", planes, kernels[:, 0].transpose(1, 2, 0), multiplier=1)
    else:
        sums = nodes("conv2d", planes, kernels.transpose(0, 2, 3, 1))
    if shifted:
        ones = np.ones((*weights.shape[2:], argument.in_channels))
        windows = nodes("dwconv2d", planes, ones, multiplier=1)
        terms = nodes("floor", nodes("mul", windows, argument.arg_x * 2.0**-argument.shr_x))
        if not argument.depthwise:
            terms = nodes("reduce_sum", terms, axes=(3,), keepdims=True)
        sums = nodes("add", sums, terms)
    return nodes("add", sums, bias)


def _activated(nodes: Nodes, activation: Activation, values: Value) -> Value:
    """The last segment whose start is not above a value, counted by comparing with all starts."""
    segments = activation.segments
    starts = np.array([one.start for one in segments], np.float64)
    reachable = np.minimum.accumulate(starts[::-1])[::-1]
    below = nodes("less_equal", reachable, nodes.reshaped(values, *shape_of(values), 1))
    count = nodes("reduce_sum", nodes.cast(below, DType.F64), axes=(4,), keepdims=False)
    last = float(len(segments) - 1)
    index = nodes.cast(nodes("clip", nodes("add", count, -1.0), low=0.0, high=last), DType.S32)
    slopes = np.array([one.mul * 2.0**-one.shift for one in segments])
    start, slope, bias = (
        nodes("gather", column, index, axis=0) for column in (starts, slopes, [float(one.bias) for one in segments])
    )
    line = nodes("mul", nodes("sub", values, start), slope)
    whole = nodes("add", nodes("floor", nodes("add", line, 0.5)), bias)
    return nodes("clip", whole, low=0.0, high=float(_LAST_BYTE))


def _pool(nodes: Nodes, layer: Conv, planes: Value) -> Value:
    """One of the ten pools. Means are cut off."""
    kind = layer.argument.pool
    channels, height, width = layer.out_shape
    if kind == 0:
        return planes
    if kind in (5, 6, 7):  # left top, right top
        stride = 4 if kind == 7 else 2
        column = 1 if kind == 6 else 0
        if kind == 6:  # behind the edge lies 0
            planes = nodes("pad", planes, before=(0, 0, 0, 0), after=(0, 0, 1, 0), mode="constant", value=0.0)
        return nodes.part(planes, [0, 0, column, 0], [1, height, width, channels], [1, stride, stride, 1])
    edge = 4 if kind in (3, 4) else 2
    strides = (1, 1) if kind in (8, 9) else (edge, edge)
    if kind in (8, 9):
        planes = nodes("pad", planes, before=(0, 0, 0, 0), after=(0, 1, 1, 0), mode="edge", value=0.0)
    if kind in (1, 3, 9):
        return nodes("max_pool2d", planes, kernel=(edge, edge), strides=strides)
    return nodes("floor", nodes("avg_pool2d", planes, kernel=(edge, edge), strides=strides))
